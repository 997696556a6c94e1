// The return addresses of the calling thread's stack, from the tables that exceptions use (.eh_frame): no
// frame pointers are needed, no lock is taken, nothing is allocated.
//
// A step needs the rule of its address: where the caller's frame begins, and where the frame pointer was
// saved. A rule is interpreted once and kept in a cache; a thread that finds half of another's entry sees
// that its two words do not belong together.
//
// Where it stops: code without tables, or with rules that need other registers than the stack's and the frame
// pointer (assembly); the end of what can be read of the stack (stack_bounds.h).
//
// Sources: the DWARF 4 standard, 6.4; System V ABI for x86-64, 3.7; glibc's _dl_find_object (2.35).
// Threads: any. Not from inside of a signal handler that runs while memory is being unmapped.
#pragma once
#include <cstddef>

#include "os/stack/unwind_rule.h"

namespace tarn::internal::os {

/// Fills `addresses` with return addresses, the caller's first. \returns how many; at most `most`.
/// \cost some 10 ns a frame once the rules are in the cache, some us before.
unsigned capture_stack(void** addresses, unsigned most);

/// Forgets all rules: call when code was unloaded, since other code may lie there next.
void forget_unwind_rules();

/// For tests.
/// \param return_address behind a call.
UnwindRule unwind_rule(const void* return_address);

}  // namespace tarn::internal::os
