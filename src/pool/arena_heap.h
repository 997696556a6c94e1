// The heap behind all arenas.
#pragma once
#include <cstddef>

#include "tarn/heap.h"

namespace tarn::internal {

/// The heap of all arenas' chunks that have no other upstream; nullptr when memory is refused.
detail::HeapState* arena_heap();

}  // namespace tarn::internal
