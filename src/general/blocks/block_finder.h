// Finds the span and the pool of a block from its address alone.
#pragma once
#include "general/pools/pool_header.h"
#include "page/spans/span.h"

namespace tarn::internal {

inline bool is_slab(const Span* span) { return span != nullptr && span->kind == SpanKind::kSlab; }
inline bool is_of_pool(const Span* span) { return span != nullptr && span->kind == SpanKind::kPool; }

/// \returns the pool of a span of kind kPool. The lowest bit of the pointer is the pool's own mark.
inline PoolHeader* pool_of(const Span& span) { return static_cast<PoolHeader*>(span.unmarked_pool()); }

/// \returns the pool that is asked to free a block of a span, and how large it is; nullptr: none. Of slabs,
/// those of a pool that must see each call.
inline PoolHeader* asked_pool(const Span& span) {
  return is_of_pool(&span) || is_slab(&span) ? pool_of(span) : nullptr;
}

/// \returns the span of an address, also in a heap's buffer, which may itself be a large block; nullptr: no
/// span has it.
Span* find_any_span(const void* pointer);

/// \returns the pool of a block that the pool took from malloc (option pools_use_malloc), also the one that
/// stands for the general pool (from_malloc.h); nullptr: none.
PoolHeader* pool_over_system(const void* block);

/// Whether a live block is the general pool's own.
bool is_of_general_pool(const void* block);

}  // namespace tarn::internal
