// Which span and which pool a block belongs to, when only its address is known.
#pragma once
#include "general/pool_header.h"
#include "page/span.h"

namespace tarn::internal {

inline bool is_slab(const Span* span) { return span != nullptr && span->kind == SpanKind::kSlab; }
inline bool is_of_pool(const Span* span) { return span != nullptr && span->kind == SpanKind::kPool; }

/// The pool of a span of kind kPool. Its lowest bit is the pool's own mark.
inline PoolHeader* pool_of(const Span& span) {
  return reinterpret_cast<PoolHeader*>(address_of(span.marked_pool()) & ~std::uintptr_t{1});
}

/// The span of an address, also of one in a heap's buffer, which may itself be a block of more than a slab's;
/// nullptr: none.
Span* find_any_span(const void* pointer);

/// The pool of a block that is malloc's because the pools' are; nullptr: none.
PoolHeader* pool_over_system(const void* block);

}  // namespace tarn::internal
