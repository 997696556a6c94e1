// The heaps that serve all arenas.
#pragma once
#include <cstddef>

#include "tarn/heap.h"

namespace tarn::internal {

/// \returns the heap for the chunks of all arenas without another upstream; nullptr when memory is refused.
detail::HeapState* arena_heap();
/// The same for the sensitive ones.
detail::HeapState* sensitive_arena_heap();

}  // namespace tarn::internal
