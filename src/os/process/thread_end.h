// How the library is told that a thread ends.
#pragma once

namespace tarn::internal::os {

/// From now on the end of each thread that has noted a value calls `at_end` with it, in that thread, before
/// or among the destructors of its other objects. Once, under a lock. \returns false when the system refuses.
bool watch_thread_ends(void (*at_end)(void* value));

/// \pre watch_thread_ends() has returned true. \returns false when the system refuses.
bool note_for_thread_end(void* value);

}  // namespace tarn::internal::os
