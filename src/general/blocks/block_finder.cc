#include "general/blocks/block_finder.h"

#include "central/slabs/slab_owner.h"
#include "general/blocks/from_malloc.h"
#include "general/options/block_source.h"
#include "general/pools/pool_registry.h"
#include "general/pools/system_blocks.h"
#include "page/spans/page_map.h"

namespace tarn::internal {

Span* find_any_span(const void* pointer) {
  Span* const span = page_map.find(pointer);
  if (is_slab(span)) return span;
  // Pages that a pool keeps ahead of need, or has given back, name no pool: they hold no block.
  if (is_of_pool(span) && pool_of(*span) == nullptr) return nullptr;
  if (span != nullptr && span->kind == SpanKind::kCached) return nullptr;
  Span* const in_buffer = pool_registry.find_span(pointer);
  return in_buffer != nullptr ? in_buffer : span;
}

// Where malloc is ours, the pool's malloc block is a block of one of our slabs.
PoolHeader* pool_over_system(const void* block) {
  if (!may_have_blocks_of_malloc()) return nullptr;
  if (PoolHeader* const pool = system_blocks.pool_of(block)) return pool;
  return find_any_span(block) == nullptr ? pool_of_unknown() : nullptr;
}

bool is_of_general_pool(const void* block) {
  const detail::RecordPlace record = page_map.index().record_of(block);
  if (record != detail::RecordPlace::kNone) return !is_private_class(class_of_record(record));
  const Span* const span = find_any_span(block);
  if (span == nullptr || is_of_pool(span) || pool_over_system(block) != nullptr) return false;
  const SlabOwner* const owner = span->owner.load(std::memory_order_acquire);
  return owner == nullptr || !owner->is_of_pool;
}

}  // namespace tarn::internal
