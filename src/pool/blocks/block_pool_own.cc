// The magazine of a pool for one thread.
//
// It begins with nothing and grows with its traffic: each refill and flush may double it.
#include <cstring>

#include "central/cached/cached_blocks.h"
#include "central/slabs/return_blocks.h"
#include "central/take_blocks.h"
#include "pool/blocks/block_pool_state.h"
#include "thread/heap_record.h"
#include "thread/this_thread.h"

namespace tarn::internal {
namespace {

constexpr std::uint32_t kFirstCapacity = 63, kLargestCapacity = kLargestMagazine;
constexpr unsigned kLargestRefill = 128;

// As many as the pool has blocks: these stay the pool's anyway.
std::uint32_t largest_capacity(const BlockPoolState& pool) {
  const std::uint32_t blocks = pool.owner->of(pool.size_class).totals.blocks;
  return blocks < kFirstCapacity ? kFirstCapacity : blocks < kLargestCapacity ? blocks : kLargestCapacity;
}

void set_top(BlockPoolState& pool, unsigned count) {
  __atomic_store_n(&pool.own->top, pool.magazine.slots + count, __ATOMIC_RELEASE);
}

// \pre the owner's mutex is held: a call that rings for a watched program's threads writes the limit too.
void set_limit_locked(BlockPoolState& pool, void** limit) {
  __atomic_store_n(&pool.own->limit, limit, __ATOMIC_RELAXED);
}
void set_limit_locked(BlockPoolState& pool) {
  set_limit_locked(pool, pool.magazine.slots + pool.magazine.capacity);
}

bool is_rung_for(const BlockPoolState& pool) {
  return __atomic_load_n(&pool.own->limit, __ATOMIC_RELAXED) == nullptr;
}

bool is_magazine_hidden(const BlockPoolState& pool) { return pool.magazine.top == &pool.hidden_top; }

bool is_hidden(const BlockPoolState& pool) {
  return is_magazine_hidden(pool) || (pool.runs != nullptr && pool.own->runs == nullptr);
}

bool may_hit(const BlockPoolState& pool) {
  return pool.own != nullptr && (pool.magazine.slots != nullptr || pool.runs != nullptr);
}

bool must_show(const BlockPoolState& pool) { return may_hit(pool) && (is_hidden(pool) || is_rung_for(pool)); }

bool must_hide(const BlockPoolState& pool) {
  return may_hit(pool) && (is_disturbed() || pool.walks != 0 || pool.sampled_count != 0);
}

// \pre the owner's mutex is held, for both.
void hide_locked(BlockPoolState& pool) {
  pool.own->runs = nullptr;
  if (pool.magazine.slots == nullptr || is_magazine_hidden(pool)) return;
  pool.hidden_top = pool.own->top;
  pool.magazine.top = &pool.hidden_top;
  pool.own->top = &pool.nothing;
  set_limit_locked(pool, &pool.nothing);
}
void show_locked(BlockPoolState& pool) {
  if (pool.runs != nullptr) show_runs_locked(pool);
  if (pool.magazine.slots == nullptr) return set_limit_locked(pool, &pool.nothing);
  set_top(pool, pool.magazine.count());
  set_limit_locked(pool);
  pool.magazine.top = &pool.own->top;
}

// \returns whether there is a magazine.
bool grow(BlockPoolState& pool) {
  if (checks_pools() || thread_limits.every_call_is_slow) return false;
  CachedBlocks& magazine = pool.magazine;
  const std::uint32_t most = largest_capacity(pool), twice = magazine.capacity * 2 + 1;
  const std::uint32_t wanted = magazine.capacity == 0 ? kFirstCapacity : twice;
  const std::uint32_t capacity = wanted < most ? wanted : most;
  if (capacity <= magazine.capacity) return true;
  os::LockGuard guard(pool.owner->mutex);
  if (!grow_cached_blocks_locked(magazine, pool.own->top, capacity)) return magazine.slots != nullptr;
  if (!is_rung_for(pool)) set_limit_locked(pool);
  return true;
}

// Returns the oldest blocks.
void flush(BlockPoolState& pool, unsigned most, ReturnedPages& returned) {
  const unsigned count = pool.magazine.count(), gone = most < count ? most : count;
  if (gone == 0) return;
  void** const blocks = pool.magazine.slots + 1;
  os::LockGuard guard(pool.owner->mutex);
  return_blocks(pool.owner, blocks, gone, returned);
  std::memmove(blocks, blocks + gone, (count - gone) * sizeof(void*));
  set_top(pool, count - gone);
}

}  // namespace

ShownHits::ShownHits(BlockPoolState& pool) : pool_(pool) {
  if (!must_show(pool)) return;
  os::LockGuard guard(pool.owner->mutex);
  show_locked(pool);
}

ShownHits::~ShownHits() {
  if (!must_hide(pool_)) return;
  os::LockGuard guard(pool_.owner->mutex);
  hide_locked(pool_);
}

void begin_own(BlockPoolState& pool, detail::OwnPoolFront& front) {
  pool.own = &front;
  front.top = front.limit = &pool.nothing;
  front.runs = nullptr;
  if (pool.source != BlockPoolState::Source::kOwn) return;
  pool.magazine.top = &front.top;
  pool.magazine.limit = &front.limit;
  pool.magazine.run_length = 1;
  os::LockGuard guard(pool.owner->mutex);
  add_cached_blocks_locked(*pool.owner, pool.magazine);
}

void* take_from_own(BlockPoolState& pool) {
  if (pool.walks != 0) return take_from_slabs(pool);
  const ShownHits shown(pool);
  if (pool.magazine.count() == 0) {
    ReturnedPages returned;
    // Cached runs come before pages that nobody has touched.
    if (pool.runs != nullptr && pool.owner->of(pool.size_class).available.is_empty())
      return_runs(pool, returned);
    if (!grow(pool)) return take_from_slabs(pool);
    const unsigned half = pool.magazine.capacity / 2 + 1,
                   wanted = half < kLargestRefill ? half : kLargestRefill;
    os::LockGuard guard(pool.owner->mutex);
    ++pool.owner->slow_calls;
    set_top(pool,
            take_blocks_locked(*pool.owner, pool.size_class, pool.magazine.slots + 1, wanted, returned));
  }
  void* const block = *pool.own->top;
  if (block != nullptr) set_top(pool, pool.magazine.count() - 1);
  return block;
}

void give_to_own(BlockPoolState& pool, void* block) {
  // A walk takes each block without a free bit for live, so one that was freed must go to its slab at once.
  if (pool.walks != 0) return give_to_slabs(pool, block);
  const ShownHits shown(pool);
  CachedBlocks& magazine = pool.magazine;
  if (magazine.count() == magazine.capacity && !grow(pool)) return give_to_slabs(pool, block);
  if (magazine.count() == magazine.capacity) {
    ReturnedPages returned;
    flush(pool, magazine.capacity / 2 + 1, returned);
  }
  if (*pool.own->top == block) pool.stop("double free", block);
  *(pool.own->top + 1) = block;
  set_top(pool, magazine.count() + 1);
}

void empty_own(BlockPoolState& pool, ReturnedPages& returned) {
  const ShownHits shown(pool);
  flush(pool, UINT32_MAX, returned);
}

}  // namespace tarn::internal
