// The calls of a thread that a test counts in a scope (tarn/testing.h). Hits count nothing: for that time the
// thread's own calls take the slow door, as they do in a HeapScope; other threads notice nothing.
//
// Invariant: this_thread().is_counted exactly while the thread's heap has a scope.
// Threads: the calling one.
#pragma once
#include <cstddef>

#include "general/pools/pool_registry.h"
#include "thread/observation/recorded_call.h"

namespace tarn::internal {

/// Adds a call to the scopes of its thread. \param bytes of the block that the call took back, 0: it took
/// none \param given the block that it gave, nullptr: it gave none
void count_in_scopes(const RecordedCall& call, std::size_t bytes, const void* given);

/// Bytes of a block that is to be freed, where a scope counts the call; 0 where there is none such.
inline std::size_t bytes_to_count(const RecordedCall& call, const void* block) {
  return call.counted_in() == nullptr ? 0 : bytes_in_general_pool(block);
}

}  // namespace tarn::internal
