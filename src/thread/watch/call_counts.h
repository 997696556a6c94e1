// Exact counts of calls, kept while every call takes the slow path (the option count_calls).
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/relaxed.h"
#include "central/classes/per_class.h"

namespace tarn::internal {

/// Live bytes at every moment. Threads: any.
struct CountedLive {
  std::atomic<std::size_t> bytes, peak_bytes;
  void add(std::size_t more) {
    raise_peak(peak_bytes, bytes.fetch_add(more, std::memory_order_relaxed) + more);
  }
  /// If the allocation of the block was not counted, the bytes stop at 0.
  void subtract(std::size_t less) {
    std::size_t now = bytes.load(std::memory_order_relaxed);
    while (!bytes.compare_exchange_weak(now, now < less ? 0 : now - less, std::memory_order_relaxed)) {
    }
  }
};
inline constinit CountedLive counted_live{};

struct CallCounts {
  std::uint64_t allocations, deallocations, reallocations, requested_bytes;

  void add_allocation(std::size_t requested, std::size_t given) {
    ++allocations;
    requested_bytes += requested;
    counted_live.add(given);
  }
  void add_deallocation(std::size_t given) {
    ++deallocations;
    counted_live.subtract(given);
  }
  /// \param moves whether the block moved, which is an allocation and a free. Its pages are one block's all
  /// the time.
  void add_resize(std::size_t before, std::size_t now, std::size_t moves) {
    allocations += moves;
    deallocations += moves;
    now > before ? counted_live.add(now - before) : counted_live.subtract(before - now);
  }
};

/// The counts of one thread, under its heap's mutex, or of all without a heap (counted_call.h).
struct ThreadCallCounts {
  PerClass<CallCounts> of_class;
  CallCounts large;  // and all calls of reallocate
};

// Where memory for a class's counts is refused, the call counts as one of a large block.
inline CallCounts& counts_of_class(ThreadCallCounts& counts, SizeClass size_class) {
  CallCounts* const of_class = counts.of_class.make(size_class);
  return of_class != nullptr ? *of_class : counts.large;
}
inline void count_allocation(ThreadCallCounts& counts, SizeClass size_class, std::size_t requested) {
  counts_of_class(counts, size_class).add_allocation(requested, class_geometry[size_class].block_bytes);
}
inline void count_deallocation(ThreadCallCounts& counts, SizeClass size_class) {
  counts_of_class(counts, size_class).add_deallocation(class_geometry[size_class].block_bytes);
}

}  // namespace tarn::internal
