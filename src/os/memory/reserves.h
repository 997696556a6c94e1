// The library's reserves, in no order. Where there are more than fit, the others are not known here.
// Threads: any; no locks.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tarn::internal::os {

/// Without the guards. An entry with start 0 is free; it belongs to the thread that has taken it, which
/// writes the end while the start is kTakenReserve or the end is 0.
struct Reserve {
  std::atomic<std::uintptr_t> start, end;
};
inline constexpr unsigned kMostReserves = 4096;
/// The start of an entry that is about to be written.
inline constexpr std::uintptr_t kTakenReserve = UINTPTR_MAX;
extern Reserve reserves[kMostReserves];

/// How many entries were ever used at once.
unsigned count_of_reserves();

void enter_reserve(const void* start, std::size_t bytes);
void forget_reserve(const void* start);

/// Calls `visit(start, end)` until it returns true. \returns the reserve of that call, or nullptr.
template <typename Visit>
Reserve* for_each_reserve(Visit visit) {
  const unsigned count = count_of_reserves();
  for (unsigned i = 0; i < count; ++i) {
    const std::uintptr_t start = reserves[i].start.load(std::memory_order_acquire);
    const std::uintptr_t end = reserves[i].end.load(std::memory_order_acquire);
    // Else the end could be another reserve's than the start.
    const bool is_whole = start < end && reserves[i].start.load(std::memory_order_relaxed) == start;
    if (is_whole && visit(start, end)) return &reserves[i];
  }
  return nullptr;
}

/// \returns the reserve that holds an address, or nullptr.
Reserve* reserve_of(const void* pointer);

}  // namespace tarn::internal::os
