// Blocks of one size, handed out one by one or n side by side.
//
// A pool takes its memory in chunks. Of each block a bit outside of it says whether it is free, so nothing is
// written into a block, nothing is searched on a free, and n free neighbours are a run of n ones. The blocks
// freed last are cached in a magazine: an array of pointers, of which a call takes or adds the last. Only
// where it is empty or full do blocks come from the bits, the lowest of a chunk first, or return to them,
// many at a time. A run that was freed is cached for the next request of its length.
//
// The idea of equal chunks with contiguous blocks comes from a paper on pools for mobile game servers
// (docs/pools/fixed_pool.md).
//
// Threads: FixedPool is for one thread at a time; debug builds stop a second thread (TARN_CHECK_THREADS).
// SharedFixedPool is the same pool for any threads.
// Errors: a pool that may not or cannot grow first calls its hook, then returns nullptr or throws
// std::bad_alloc, as its options say. Freeing a pointer that is no live block of the pool stops the process
// with one line, at the latest when the block returns to its bits (docs/safety.md says when).
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "tarn/detail/error.h"
#include "tarn/detail/live_walk.h"
#include "tarn/detail/pool_name.h"
#include "tarn/detail/thread_cache.h"
#include "tarn/hooks.h"

#ifndef TARN_CHECK_THREADS
#ifdef NDEBUG
#define TARN_CHECK_THREADS 0
#else
#define TARN_CHECK_THREADS 1
#endif
#endif

namespace TARN_NAMESPACE {

enum class AtCap : std::uint8_t { kReturnNull, kThrow };

struct FixedPoolOptions {
  PoolName name = {};           // any string, copied; usually "fixed pool"
  std::size_t block_bytes = 0;  // 1 .. 262144
  // A power of two up to 65536; block_bytes is rounded up to a multiple of it.
  std::size_t alignment = 16;
  std::size_t blocks_per_chunk = 0;  // 1 .. 32768; 0: chunks of 64 KiB up to 1 KiB blocks, then larger ones
  std::size_t largest_count = SIZE_MAX;  // the most blocks the pool may have; the cap
  std::size_t initial_count = 0;         // blocks the pool has from the start
  AtCap at_cap = AtCap::kReturnNull;
  /// Called when the cap or the system refuses a block, before the pool returns nullptr or throws
  /// std::bad_alloc. The hook may free blocks of the pool, but only the next call gets them. No lock is held
  /// during the call.
  void (*on_refusal)(void* context) = nullptr;
  void* context = nullptr;
  /// Blocks are wiped when they are freed, at clear() and at the pool's end, left out of core files, and read
  /// by no tool (docs/pools/sensitive.md). Each call takes the slow way.
  bool sensitive = false;
};

namespace detail {

struct BlockPoolState;
struct BlockPoolAccess;

/// What every front of a pool of blocks begins with.
struct BlockPoolFront {
  std::size_t stride;
  BlockPoolState* state;
  const void* checked_as;  // the pool's name for memory checkers; nullptr: checkers are not told
};

/// Of a pool for any threads.
struct SharedPoolFront : BlockPoolFront {
  RecordPlace place;  // of each thread's record of the pool's class; kNone: every call is slow
};

/// What a pool for one thread has cached: blocks, or runs of one length.
/// Invariant: *top is what to hand out next, or nullptr in the slot before the first one; what is freed finds
/// no room behind `limit`, which others set to nullptr to make the next free a slow one.
struct OwnRecord {
  void** top;
  void** limit;
};
inline constexpr std::size_t kLongestCachedRun = 64;

/// Of a pool for one thread, which has the only record of its blocks.
struct OwnPoolFront : BlockPoolFront, OwnRecord {
  OwnRecord* runs;   // by their length, up to kLongestCachedRun; nullptr: each call with a run is slow
  const void* user;  // the thread that uses the pool, while threads are checked
};

TARN_API bool make_pool(SharedPoolFront& front, const FixedPoolOptions& options, bool poisons) noexcept;
TARN_API bool make_pool(OwnPoolFront& front, const FixedPoolOptions& options, bool poisons) noexcept;
TARN_API void end_block_pool(BlockPoolState* pool) noexcept;
TARN_API void* block_pool_allocate_slow(BlockPoolState* pool) noexcept;
TARN_API void block_pool_deallocate_slow(BlockPoolState* pool, void* block) noexcept;
TARN_API void* block_pool_allocate_run(BlockPoolState* pool, std::size_t count) noexcept;
TARN_API void block_pool_deallocate_run(BlockPoolState* pool, void* blocks, std::size_t count) noexcept;
TARN_API bool block_pool_owns(const BlockPoolState* pool, const void* pointer) noexcept;
TARN_API std::size_t block_pool_reserve(BlockPoolState* pool, std::size_t count, bool populates) noexcept;
TARN_API std::size_t block_pool_release_unused(BlockPoolState* pool) noexcept;
TARN_API void block_pool_clear(BlockPoolState* pool) noexcept;
TARN_API std::size_t block_pool_capacity(const BlockPoolState* pool) noexcept;
TARN_API std::size_t block_pool_usable_count(const BlockPoolState* pool) noexcept;
TARN_API std::size_t block_pool_live_count(const BlockPoolState* pool) noexcept;
TARN_API std::size_t block_pool_blocks_per_chunk(const BlockPoolState* pool) noexcept;
TARN_API std::size_t block_pool_alignment(const BlockPoolState* pool) noexcept;
TARN_API std::size_t block_pool_chunk_count(const BlockPoolState* pool) noexcept;
TARN_API bool block_pool_throws(const BlockPoolState* pool) noexcept;
TARN_API void block_pool_refused(BlockPoolState* pool) noexcept;
TARN_API void block_pool_check_user_slow(OwnPoolFront& front) noexcept;

// Hits, and the same out of line.
TARN_API void* pool_allocate_by_call(SharedPoolFront& front) noexcept;
TARN_API void* pool_allocate_by_call(OwnPoolFront& front) noexcept;
TARN_API void pool_deallocate_by_call(SharedPoolFront& front, void* block) noexcept;
TARN_API void pool_deallocate_by_call(OwnPoolFront& front, void* block) noexcept;
/// Stops the process when blocks that are to be freed are none of the pool's, or are seen to be free: a look
/// at their bits without a lock (over malloc with one), and at the newest that the thread has cached.
TARN_API void block_pool_check_free(BlockPoolState* pool, const void* blocks, std::size_t count) noexcept;

TARN_INLINE void* pool_hit_allocate(SharedPoolFront& front) {
  void* const block = pop(own_cache(), front.place);
  return block != nullptr ? block : block_pool_allocate_slow(front.state);
}

// Others read `top` for statistics, hence the atomic store; it costs what a plain one does.
TARN_INLINE void* pop(OwnRecord& record) {
  void** const top = record.top;
  void* const block = *top;
  if (block != nullptr) [[likely]]
    atomic_store(&record.top, top - 1, kRelaxed);
  return block;
}

// \returns false when the call must be a slow one: there is no room, the block is the newest one already, or
// it is nullptr.
TARN_INLINE bool push(OwnRecord& record, void* block) {
  void** const top = record.top;
  if (top >= atomic_load(&record.limit, kRelaxed) || *top == block || block == nullptr) [[unlikely]]
    return false;
  atomic_store(top + 1, block, kRelaxed);
  atomic_store(&record.top, top + 1, kRelease);
  return true;
}

// \returns the record of a length, or nullptr.
TARN_INLINE OwnRecord* record_of_runs(OwnPoolFront& front, std::size_t count) {
  if (front.runs == nullptr || count - 1 >= kLongestCachedRun) return nullptr;
  return count == 1 ? &front : front.runs + count;
}
TARN_INLINE OwnRecord* record_of_runs(SharedPoolFront&, std::size_t) { return nullptr; }

TARN_INLINE void* pool_hit_allocate(OwnPoolFront& front) {
  void* const block = pop(front);
  return block != nullptr ? block : block_pool_allocate_slow(front.state);
}

TARN_INLINE void pool_hit_deallocate(SharedPoolFront& front, void* block) {
  ThreadCache* const cache = own_cache();
  // The page of a block that is sampled, and of one of another pool, names another record.
  if (record_of(cache, block) != front.place || !push(cache, front.place, block)) [[unlikely]]
    block_pool_deallocate_slow(front.state, block);
}

TARN_INLINE void pool_hit_deallocate(OwnPoolFront& front, void* block) {
  if (!push(front, block)) [[unlikely]]
    block_pool_deallocate_slow(front.state, block);
}

template <typename Front>
TARN_INLINE void* pool_allocate(Front& front) {
  if constexpr (kHitsAreCalls) return pool_allocate_by_call(front);
  return pool_hit_allocate(front);
}
template <typename Front>
TARN_INLINE void pool_deallocate(Front& front, void* block) {
  if constexpr (kChecksFrees) block_pool_check_free(front.state, block, 1);
  if constexpr (kHitsAreCalls) return pool_deallocate_by_call(front, block);
  pool_hit_deallocate(front, block);
}

template <typename Front>
TARN_INLINE void* pool_allocate_run(Front& front, std::size_t count) {
  OwnRecord* const record = kHitsAreCalls ? nullptr : record_of_runs(front, count);
  void* const run = record != nullptr ? pop(*record) : nullptr;
  return run != nullptr ? run : block_pool_allocate_run(front.state, count);
}
template <typename Front>
TARN_INLINE void pool_deallocate_run(Front& front, void* blocks, std::size_t count) {
  if constexpr (kChecksFrees) block_pool_check_free(front.state, blocks, count);
  OwnRecord* const record = kHitsAreCalls ? nullptr : record_of_runs(front, count);
  if (record == nullptr || !push(*record, blocks)) block_pool_deallocate_run(front.state, blocks, count);
}

}  // namespace detail

/// The functions that FixedPool and SharedFixedPool share.
template <typename Front>
class BasicFixedPool {
  static constexpr bool kIsForOneThread = std::is_base_of_v<detail::OwnPoolFront, Front>;

 public:
  /// \throws std::bad_alloc when memory is refused or an option is out of its range.
  TARN_LOCAL explicit BasicFixedPool(const FixedPoolOptions& options) {
    if (!detail::make_pool(front_, options, detail::kPoisonsFreeBlocks)) detail::throw_bad_alloc();
  }
  TARN_LOCAL explicit BasicFixedPool(std::size_t block_bytes, const PoolName& name = {})
      : BasicFixedPool(FixedPoolOptions{.name = name, .block_bytes = block_bytes}) {}
  template <std::convertible_to<PoolName> Name>
  explicit BasicFixedPool(const Name&) {
    static_assert(sizeof(Name) == 0, "a pool of blocks is told their size: FixedPool(64, \"name\")");
  }
  /// The pool's end frees all blocks, also live ones. \pre no other thread uses the pool any more.
  TARN_LOCAL ~BasicFixedPool() { detail::end_block_pool(front_.state); }
  BasicFixedPool(const BasicFixedPool&) = delete;  // pools stay in place: std::deque, std::list, unique_ptr
  BasicFixedPool& operator=(const BasicFixedPool&) = delete;
  template <std::same_as<BasicFixedPool> Moved>
  BasicFixedPool(Moved&&) noexcept {
    detail::stop_at_move<Moved>();
  }

  /// \returns a block of block_bytes(), contents undefined; the one freed last, of a shared pool by this
  /// thread, else the lowest free one of a chunk. \cost inlined: two loads, a store, a compare; of a shared
  /// pool four loads and a store more, and with a cap a call.
  [[nodiscard]] TARN_INLINE void* allocate() {
    check_user();
    void* const block = detail::pool_allocate(front_);
    if (block == nullptr) [[unlikely]]
      return refuse();
    if constexpr (detail::kTellsTools) detail::annotate_allocation(front_.checked_as, block, front_.stride);
    return block;
  }

  /// \returns the address of the first of `count` blocks side by side. 0 blocks, and more than a chunk has,
  /// are refused as allocate() refuses at the cap.
  /// \cost inlined, if a run of that length, up to 64 blocks, is cached (of a shared pool a call and a
  /// mutex); else O(words of 64 blocks in up to 64 chunks), independent of `count`; before a refusal in all
  /// chunks.
  [[nodiscard]] TARN_INLINE void* allocate_run(std::size_t count) {
    check_user();
    void* const blocks = detail::pool_allocate_run(front_, count);
    if (blocks == nullptr) [[unlikely]]
      return refuse();
    detail::annotate_allocation(front_.checked_as, blocks, front_.stride, count);
    return blocks;
  }

  /// nullptr is ignored. \cost inlined: three loads, two stores, two compares; of a shared pool the index of
  /// pages and the block's live byte too, and with a cap a call.
  TARN_INLINE void deallocate(void* block) noexcept {
    check_user();
    // Checkers are told first: after the free, another thread may be given the block.
    if constexpr (detail::kTellsTools)
      if (block != nullptr) detail::annotate_deallocation(front_.checked_as, block, front_.stride);
    detail::pool_deallocate(front_, block);
  }

  /// Frees `count` blocks side by side; they may come from one call or from several. \cost inlined, where a
  /// run up to 64 blocks can be cached; else a call, the index of pages and a multiplication. The first
  /// time for a count up to 64, 0.6 KiB of memory for the library, and the first time at all 1.5 KiB.
  TARN_INLINE void deallocate_run(void* blocks, std::size_t count) noexcept {
    check_user();
    if (blocks == nullptr) return;
    detail::annotate_deallocation(front_.checked_as, blocks, front_.stride, count);
    detail::pool_deallocate_run(front_, blocks, count);
  }

  /// Fills `blocks` with up to `count` blocks. \returns how many blocks there are; fewer only at the cap, and
  /// then without a throw. \cost of each as allocate().
  [[nodiscard]] TARN_LOCAL std::size_t allocate_batch(std::size_t count, void** blocks) noexcept {
    check_user();
    std::size_t taken = 0;
    while (taken < count && (blocks[taken] = detail::pool_allocate(front_)) != nullptr) ++taken;
    for (std::size_t i = 0; i < taken; ++i)
      detail::annotate_allocation(front_.checked_as, blocks[i], front_.stride);
    if (taken != count) detail::block_pool_refused(front_.state);
    return taken;
  }
  TARN_LOCAL void deallocate_batch(void* const* blocks, std::size_t count) noexcept {
    check_user();
    for (std::size_t i = 0; i < count; ++i)
      if (blocks[i] != nullptr) detail::annotate_deallocation(front_.checked_as, blocks[i], front_.stride);
    for (std::size_t i = 0; i < count; ++i) detail::pool_deallocate(front_, blocks[i]);
  }

  /// \returns whether an address lies in one of the pool's chunks.
  TARN_LOCAL bool owns(const void* pointer) const noexcept {
    return detail::block_pool_owns(front_.state, pointer);
  }

  /// Grows until at least `count` blocks are usable. \returns how many are usable; fewer at the cap or when
  /// memory is refused.
  TARN_LOCAL std::size_t reserve(std::size_t count) noexcept {
    check_user_if_known();
    return detail::block_pool_reserve(front_.state, count, false);
  }

  /// The same, with all blocks backed by memory, so that no first touch faults.
  TARN_LOCAL std::size_t prewarm(std::size_t count) noexcept {
    check_user_if_known();
    return detail::block_pool_reserve(front_.state, count, true);
  }

  /// Gives chunks without live blocks back to the page cache. \returns their bytes.
  TARN_LOCAL std::size_t release_unused() noexcept {
    check_user();
    return detail::block_pool_release_unused(front_.state);
  }

  /// Frees all live blocks at once; the pool keeps its chunks. \pre no other thread uses the pool meanwhile.
  /// \cost a store per 64 blocks.
  TARN_LOCAL void clear() noexcept {
    check_user();
    detail::block_pool_clear(front_.state);
  }

  /// Calls visit(void* block) for each live block, in address order; of a run, for each of its blocks. visit
  /// may free any blocks and allocate new ones: a block freed before its turn is not visited, one allocated
  /// meanwhile may be. Meanwhile release_unused() returns 0. An exception of visit ends the walk.
  /// With other threads: a block that is live during the whole call is visited exactly once.
  /// \pre no other thread frees a block that visit touches, and visit touches none that another thread is yet
  /// to fill. \cost a step per live block, and one per 64 blocks; of a shared pool, for each chunk a step per
  /// free block that threads have cached.
  template <typename Visit>
  TARN_LOCAL void for_each_live(Visit&& visit) {
    check_user();
    detail::visit_live_blocks(front_.state, front_.stride, visit);
  }

  /// Lets another thread use the pool from now on. Does nothing unless threads are checked.
  void detach_from_thread() noexcept requires(kIsForOneThread) { front_.user = nullptr; }

  std::size_t block_bytes() const noexcept { return front_.stride; }
  TARN_LOCAL std::size_t alignment() const noexcept { return detail::block_pool_alignment(front_.state); }
  TARN_LOCAL std::size_t blocks_per_chunk() const noexcept {
    return detail::block_pool_blocks_per_chunk(front_.state);
  }
  TARN_LOCAL std::size_t chunk_count() const noexcept { return detail::block_pool_chunk_count(front_.state); }
  /// \returns how many blocks the pool has, live or not.
  TARN_LOCAL std::size_t capacity() const noexcept { return detail::block_pool_capacity(front_.state); }
  /// \returns how many blocks can be had without growing. \cost a step per chunk, and of a shared pool a lock
  /// for each thread. live_count() and capacity() do the same. Exact while no other thread uses the pool;
  /// blocks that go from a thread to the chunks meanwhile count twice, or not at all.
  TARN_LOCAL std::size_t usable_count() const noexcept {
    return detail::block_pool_usable_count(front_.state);
  }
  TARN_LOCAL std::size_t live_count() const noexcept { return detail::block_pool_live_count(front_.state); }

 private:
  friend struct detail::BlockPoolAccess;
  TARN_LOCAL BasicFixedPool() = default;  // not made yet
  TARN_INLINE void check_user() {
#if TARN_CHECK_THREADS
    if constexpr (kIsForOneThread)
      if (front_.user != detail::address_of_own_cache()) detail::block_pool_check_user_slow(front_);
#endif
  }
  /// For calls that make a pool ready, which another thread may use from then on.
  TARN_LOCAL void check_user_if_known() {
    if constexpr (kIsForOneThread)
      if (front_.user != nullptr) check_user();
  }
  TARN_COLD TARN_NOINLINE TARN_LOCAL void* refuse() {
    detail::block_pool_refused(front_.state);
    if (detail::block_pool_throws(front_.state)) detail::throw_bad_alloc();
    return nullptr;
  }

  Front front_;
};

/// For one thread at a time.
class FixedPool : public BasicFixedPool<detail::OwnPoolFront> {
 public:
  using BasicFixedPool::BasicFixedPool;
  TARN_LOCAL explicit FixedPool(const FixedPoolOptions& options) : BasicFixedPool(options) {}
  TARN_LOCAL explicit FixedPool(std::size_t block_bytes, const PoolName& name = {})
      : BasicFixedPool(block_bytes, name) {}
  FixedPool(FixedPool&&) = default;  // as the base's
  TARN_LOCAL ~FixedPool() = default;
};

/// FixedPool for any number of threads: the same functions. Each thread has a magazine of free blocks, up to
/// some thousand small ones, which it uses without a lock. With a cap, a block is refused only when none is
/// free anywhere: before that, what all threads have cached returns to the chunks, and until an eighth of
/// the cap (64 blocks, or half of fewer) is free again each call takes the pool's mutex. A run may make the
/// pool grow although free neighbours lie in magazines; with a cap it is refused only when even these do not
/// help.
class SharedFixedPool : public BasicFixedPool<detail::SharedPoolFront> {
 public:
  using BasicFixedPool::BasicFixedPool;
  TARN_LOCAL explicit SharedFixedPool(const FixedPoolOptions& options) : BasicFixedPool(options) {}
  TARN_LOCAL explicit SharedFixedPool(std::size_t block_bytes, const PoolName& name = {})
      : BasicFixedPool(block_bytes, name) {}
  SharedFixedPool(SharedFixedPool&&) = default;  // as the base's
  TARN_LOCAL ~SharedFixedPool() = default;
};

}  // namespace TARN_NAMESPACE
