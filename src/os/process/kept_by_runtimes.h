// What the runtimes of C and C++ allocate for themselves and keep to the end of the process:
// libstdc++.so's spare memory for exceptions, the buffers of the standard streams. No program can free it.
//
// The runtimes' own data are read, and nothing is called or changed: a program may have closed a stream, or
// have another in its place.
// Threads: any. What another thread changes meanwhile may be missed.
#pragma once

namespace tarn::internal::os {

/// Calls visit(word, context) for each word that may be the address of such a block, or anything else.
void visit_kept_by_runtimes(void (*visit)(const void* word, void* context), void* context);

}  // namespace tarn::internal::os
