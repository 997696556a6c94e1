// A heap as the library sees it, and the scopes of a thread.
#pragma once
#include <cstddef>

#include "pool/pool_registry.h"
#include "tarn/heap.h"
#include "thread/this_thread.h"

namespace tarn::internal {

/// The heap of all arenas' chunks that have no other upstream; nullptr when memory is refused.
detail::HeapState* arena_heap();

/// The heap of the calling thread's innermost scope; nullptr: the general pool.
inline detail::HeapState* scope_heap() { return static_cast<detail::HeapState*>(this_thread_scope()); }

}  // namespace tarn::internal
