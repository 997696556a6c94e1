// Walks over the live blocks of pools of blocks: which slab is next, and which of its blocks are live.
#include "tarn/detail/live_walk.h"

#include <algorithm>
#include <new>

#include "central/cached/depot.h"
#include "general/pools/live_picture.h"
#include "general/pools/system_blocks.h"
#include "pool/blocks/block_pool_state.h"
#include "thread/magazine.h"
#include "thread/registry.h"
#include "thread/spans_in_order.h"

namespace TARN_NAMESPACE::detail {

using namespace internal;

namespace {

// The lowest blocks behind an address.
std::uint32_t find_blocks_of_malloc(const PoolHeader& state, std::uintptr_t behind, void** blocks) {
  std::uint32_t count = 0;
  system_blocks.visit(state, [&](void* block) {
    if (address_of(block) > behind) keep_lowest(blocks, count, LiveWalk::kMostBlocks, block);
  });
  std::sort_heap(blocks, blocks + count);
  return count;
}

SlabsInOrder& order_of(unsigned char* storage) {
  static_assert(sizeof(SlabsInOrder) <= kOrderBytes && alignof(SlabsInOrder) <= alignof(void*));
  return *std::launder(reinterpret_cast<SlabsInOrder*>(storage));
}

}  // namespace

LiveWalk::LiveWalk(BlockPoolState* pool) noexcept : is_over_malloc(pool->is_over_malloc()), pool_(*pool) {
  if (is_over_malloc) return;
  begin_walk(pool_);
  prefetches = pool_.owner->slab_bytes >= kPrefetchedBytes;
  new (order_) SlabsInOrder(SlabsOfClass{*pool_.owner, pool_.size_class});
}

LiveWalk::~LiveWalk() {
  if (is_over_malloc) return;
  order_of(order_).~SlabsInOrder();
  end_walk(pool_);
}

// What other threads have cached is read after the bits: a block that one of them takes meanwhile is live.
bool LiveWalk::advance() noexcept {
  if (is_over_malloc) {
    block_count = find_blocks_of_malloc(pool_, last_, blocks);
    if (block_count != 0) last_ = address_of(blocks[block_count - 1]);
    return block_count != 0;
  }
  const Span* const slab = order_of(order_).next();
  if (slab == nullptr) return false;
  start = slab->start;
  block_count = slab->block_count;
  free_bits = slab->free_bits;
  remote_bits = reinterpret_cast<const std::uint64_t*>(slab->remote_bits);
  for (std::uint32_t first = 0; first < block_count; first += 64) {
    const std::uint32_t left = block_count - first;
    const std::uint64_t all = left < 64 ? (std::uint64_t{1} << left) - 1 : ~std::uint64_t{0};
    const std::uint64_t remote = __atomic_load_n(remote_bits + first / 64, __ATOMIC_ACQUIRE);
    live[first / 64] = all & ~(remote | bitmap::load(free_bits + first / 64));
  }
  if (pool_.size_class == SizeClass::kNone) return true;
  const auto take_out = [&](void* block) {
    const std::uintptr_t offset = address_of(block) - address_of(start);
    if (offset < block_count * pool_.stride) bitmap::clear(live, offset / pool_.stride);
  };
  registry.for_each_and_rest(
      [&](const ThreadHeap& heap) { visit_magazine(heap, pool_.size_class, take_out); },
      [&] {
        for_each_part(*pool_.owner, [&](SlabOwner& part) {
          os::LockGuard guard(part.mutex);  // what returns to slabs is in neither for a moment
          visit_parked(part, take_out);
        });
      });
  return true;
}

bool LiveWalk::is_live(const void* block) const noexcept { return system_blocks.pool_of(block) == &pool_; }

}  // namespace TARN_NAMESPACE::detail
