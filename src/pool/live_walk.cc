// Walks over the live blocks of fixed pools: which chunk is next, and that no chunk ends meanwhile.
#include "tarn/detail/live_walk.h"

#include <algorithm>

#include "general/system_blocks.h"
#include "pool/fixed_pool_state.h"

namespace TARN_NAMESPACE::detail {

using namespace internal;

namespace {

// The lowest blocks behind an address; a heap of kMostBlocks of them with the highest on top, then sorted.
std::uint32_t find_blocks_of_malloc(const FixedPoolState& state, std::uintptr_t behind, void** blocks) {
  std::uint32_t count = 0;
  system_blocks.visit(state, [&](void* block) {
    if (address_of(block) <= behind) return;
    if (count == LiveWalk::kMostBlocks) {
      if (block > blocks[0]) return;
      std::pop_heap(blocks, blocks + count--);
    }
    blocks[count++] = block;
    std::push_heap(blocks, blocks + count);
  });
  std::sort_heap(blocks, blocks + count);
  return count;
}

}  // namespace

LiveWalk::LiveWalk(FixedPoolFront& front) noexcept : front_(front) {
  FixedPoolState& state = *front.state;
  is_over_malloc = state.unwiped_back_end == &kFixedPoolOverMalloc;
  const ProgramGuard guard(front.mutex);
  if (!is_over_malloc) ++state.walks;
  prefetches = state.mapped_bytes >= kPrefetchedBytes;
  has_magazines_ = state.magazines.load(std::memory_order_acquire) != nullptr;
}

LiveWalk::~LiveWalk() {
  const ProgramGuard guard(front_.mutex);
  if (!is_over_malloc) --front_.state->walks;
}

bool LiveWalk::advance() noexcept {
  const FixedPoolState& state = *front_.state;
  if (is_over_malloc) {
    block_count = find_blocks_of_malloc(state, last_, blocks);
    if (block_count != 0) last_ = address_of(blocks[block_count - 1]);
    return block_count != 0;
  }
  const ProgramGuard guard(front_.mutex);
  // Mostly the next one; elsewhere when chunks were made meanwhile.
  const bool is_there = start != nullptr && state.ring[slot_].span->start == start;
  slot_ = is_there ? slot_ + 1 : state.ring.slot_behind(last_);
  if (slot_ == state.ring.count()) return false;
  PoolChunk& chunk = state.ring[slot_];
  start = chunk.span->start;
  last_ = address_of(start);
  block_count = chunk.block_count;
  free_bits = chunk.words();
  live_bytes = has_magazines_ ? internal::live_bytes(*chunk.span) : nullptr;
  return true;
}

bool LiveWalk::is_live(const void* block) const noexcept {
  return system_blocks.pool_of(block) == front_.state;
}

}  // namespace TARN_NAMESPACE::detail
