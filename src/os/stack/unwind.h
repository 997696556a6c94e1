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
#include <cstdint>
#include <cstring>

#include "os/stack/eh_frame.h"
#include "os/stack/stack_bounds.h"
#include "tarn/detail/api.h"

namespace tarn::internal::os {

/// Fills `addresses` with return addresses, the caller's first. \returns how many; at most `most`.
/// \cost some 10 ns a frame once the rules are in the cache, some us before.
unsigned capture_stack(void** addresses, unsigned most);

/// Where a walk is: in a frame, at an address of its function.
struct StackPlace {
  std::uintptr_t address, stack_pointer, frame_pointer;
};

/// The same of the frame that a place is in: the innermost one, whose address is where it is now.
unsigned capture_stack_from(StackPlace place, void** addresses, unsigned most);

/// Forgets all rules: call when code was unloaded, since other code may lie there next.
void forget_unwind_rules();

/// For tests.
/// \param return_address behind a call.
UnwindRule unwind_rule(const void* return_address);

// One step of a walk, for unwind.cc and stack_memo.cc.

/// Whether a frame's address is where its function is now, or where it goes on when a call returns.
enum class FrameKind : std::uint8_t { kInnermost, kCaller };

/// Whether walks go by the rules of frames, a step at a time.
#if defined(__x86_64__) && !defined(_WIN32)
#define TARN_STEPS_ALONG_FRAMES
#endif

#if defined(TARN_STEPS_ALONG_FRAMES)
/// Of the function that it is inlined into.
TARN_INLINE StackPlace this_place() {
  StackPlace place{};
  asm volatile("lea (%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2"
               : "=&r"(place.address), "=&r"(place.stack_pointer), "=&r"(place.frame_pointer));
  return place;
}
#endif

/// Goes to the caller's frame, if there is one that can be known; else `place` stays.
/// \param saved_at where the caller's frame pointer lies; 0: it is the same
bool step_to_caller(StackPlace& place, FrameKind kind, StackBounds& bounds, std::uintptr_t* saved_at);

/// Counts how often rules were forgotten.
std::uint64_t generation_of_rules();

inline std::uintptr_t word_at(std::uintptr_t address) {
  std::uintptr_t word;
  std::memcpy(&word, reinterpret_cast<const void*>(address), sizeof word);
  return word;
}

}  // namespace tarn::internal::os
