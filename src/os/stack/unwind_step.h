// One step of a walk along a stack (unwind.h, stack_memo.h).
#pragma once
#include <cstdint>
#include <cstring>

#include "base/units.h"
#include "os/stack/stack_bounds.h"
#include "tarn/detail/api.h"

namespace tarn::internal::os {

/// Where a walk is: in a frame, at an address of its function.
struct StackPlace {
  std::uintptr_t address, stack_pointer, frame_pointer;
};

/// Whether a frame's address is where its function is now, or where it goes on when a call returns.
enum class FrameKind : std::uint8_t { kInnermost, kCaller };

#if defined(__x86_64__)
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
