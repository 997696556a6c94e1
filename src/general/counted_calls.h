// Exact counts of calls, for the general pool's slow door (the option count_calls).
#pragma once
#include "thread/heap_record.h"

namespace tarn::internal {

/// \returns whether a heap's calls are counted; `heap` may be nullptr.
inline bool counts_calls(const ThreadHeap* heap) { return heap != nullptr && heap->calls != nullptr; }

inline void count_allocation(CallCounts& counts, std::size_t requested, std::size_t given) {
  ++counts.allocations;
  counts.requested_bytes += requested;
  counted_live.add(given);
}

inline void count_deallocation(CallCounts& counts, std::size_t given) {
  ++counts.deallocations;
  counted_live.subtract(given);
}

}  // namespace tarn::internal
