// The library's record of a pool of blocks of one size, for any threads (tarn/fixed_pool.h). The pool owns
// its slabs (thread/pools/pool_owner.h); where a call takes and gives blocks is chosen when the pool is made:
//
//   kRecords   the inlined hits pop and push the thread's record of the pool's class. All else, up to the
//              refusal of memory, is the thread tier's.
//   kMarked    a pool with a cap: as before, but in the library, under the thread's mark, so that a visit can
//              take all that threads have cached: a block is refused only when none is free anywhere.
//   kOwn       a pool for one thread, which has the only record.
//   kSlabs     free blocks are poisoned or wiped, or slots of malloc's objects: each call goes to the slabs.
//   kMalloc    each block is one of malloc's (the option pools_use_malloc).
//
// Invariant: only pools with records or marks have a class that threads know. `is_scarce` is 1 of
// owner->no_magazines; each walk, and each visit while it lasts, is another 1.
// Threads: any. `mutex` guards what changes all slabs: visits, walks, clear(), the end.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/block_visitor.h"
#include "base/relaxed.h"
#include "central/slabs/slab_owner.h"
#include "general/pools/pool_header.h"
#include "os/fatal.h"
#include "tarn/fixed_pool.h"
#include "thread/pools/marked_hits.h"
#include "thread/pools/pool_owner.h"

namespace TARN_NAMESPACE::detail {

/// Freed runs of one length, for the next requests of that length.
struct CachedRuns {
  internal::CachedBlocks cached{};
  OwnRecord* record = nullptr;
  std::uint32_t refill = 1;  // so many are taken at once when there is none
};

/// All of a pool's, by their length. The records of lengths that no run was freed of hold nothing.
struct RunTable {
  OwnRecord records[kLongestCachedRun + 1];
  CachedRuns* of[kLongestCachedRun + 1];
};

struct BlockPoolState : internal::PoolHeader {
  enum class Source : std::uint8_t { kRecords, kMarked, kOwn, kSlabs, kMalloc };

  Source source{};
  internal::SlabOwner* owner = nullptr;  // nullptr: over malloc
  internal::SizeClass size_class{};
  std::size_t stride = 0;
  std::size_t block_bytes = 0;  // what a call asks for
  std::size_t alignment = 0;
  bool is_ending = false;  // each free marks its slab only
  std::size_t largest_count = 0;
  std::uint32_t blocks_per_chunk = 0;
  AtCap at_cap{};
  bool is_checked = false;             // memory checkers know the pool
  bool poisons = false;                // free blocks are poisoned
  bool is_scarce = false;              // under the owner's mutex
  std::uint32_t walks = 0;             // over live blocks; under `mutex`
  std::atomic<std::size_t> of_malloc;  // live blocks, over malloc
  std::atomic<std::size_t> most_of_malloc;
  std::atomic<std::size_t> refusals;  // calls that got no block
  void (*on_refusal)(void*) = nullptr;
  void* context = nullptr;

  // Of a pool for one thread: its record, and the magazine behind that. While the thread is watched, the
  // record is that of nothing, and `hidden_top` the true one's.
  OwnPoolFront* own = nullptr;
  internal::CachedBlocks magazine{};
  void** hidden_top = nullptr;
  std::size_t sampled_count = 0;  // live blocks that a profile knows; while there are some, no free is a hit
  void* nothing = nullptr;        // a record's only slot where there is no magazine
  // Bit n - 1: runs of n blocks are cached; of a pool for one thread, may be.
  internal::Relaxed<std::uint64_t> run_lengths;
  RunTable* runs = nullptr;  // nullptr: none was freed yet

  bool is_over_malloc() const { return source == Source::kMalloc; }
  void note_refusal() { refusals.fetch_add(1, std::memory_order_relaxed); }
  [[noreturn]] void stop(const char* what, const void* block) const {
    internal::os::fatal_in_pool(name, what, block);
  }
};

}  // namespace TARN_NAMESPACE::detail

namespace tarn::internal {

using detail::BlockPoolState;

/// What a pool of blocks is made of.
struct BlockPoolRequest {
  const PoolOperations& operations;
  const char* name;
  const char* usual_name;  // when it is empty
  ClassGeometry geometry;
  std::size_t alignment;
  BlockPoolState::Source source;
  std::size_t most_blocks = SIZE_MAX;  // the cap
  std::size_t initial_count = 0;
  bool is_sensitive = false;
  bool is_checked = false;  // memory checkers know the pool
  bool poisons = false;     // free blocks are poisoned
  bool keeps_slabs = false;
  bool has_counts = false;  // slabs have a zeroed count for each block
  bool has_slots = false;   // blocks are slots of handles
};

/// Begins a pool, in zeroed memory, and registers it. \param front is written. \returns false when memory is
/// refused; then nothing is left of the pool.
bool begin_block_pool(detail::SharedPoolFront& front, BlockPoolState& pool, const BlockPoolRequest& request);
bool begin_block_pool(detail::OwnPoolFront& front, BlockPoolState& pool, const BlockPoolRequest& request);
/// \returns where a pool's calls take and give blocks. \param usual of a pool without duties.
BlockPoolState::Source source_of_blocks(BlockPoolState::Source usual, bool keeps_free_blocks_long);
/// Whether all options are in their range.
bool are_valid(const FixedPoolOptions& options);

/// \returns how many blocks of a stride a chunk has where the program does not choose it.
std::size_t usual_blocks_in_chunk(std::size_t stride);

/// Ends a pool, and frees its live blocks; the record stays.
void end_pool_of_blocks(BlockPoolState& pool);

/// Frees all blocks, those of malloc too. \pre no other thread uses the pool meanwhile.
void free_all(BlockPoolState& pool);
/// Frees what was taken from malloc together. Stops the process when it is none of the pool's.
void give_to_malloc(BlockPoolState& pool, void* blocks);
/// \returns what the pool has, at some moment.
PoolCensus census_of(BlockPoolState& pool, ReturnedPages& returned);
/// Ends chunks without live blocks. \returns their bytes.
std::size_t release_unused(BlockPoolState& pool, ReturnedPages& returned);

// The parts of a pool's end, in this order.

/// The pool is registered no more, and all that threads had cached is in the slabs.
void begin_to_end_blocks(BlockPoolState& pool);
/// Visits the live blocks: first malloc's, which visit() must free, then those of slabs, in the order of
/// their addresses.
void visit_live_blocks_of(BlockPoolState& pool, const BlockVisitor& visit);
/// \pre all blocks are free, or may outlive the pool.
void end_blocks(BlockPoolState& pool);

// The operations that pools of blocks have in common.
PoolUse use_of_blocks(PoolHeader& pool, ReturnedPages& returned);
void deallocate_block_of(PoolHeader& pool, void* block);
std::size_t usable_size_of_block(PoolHeader& pool, const void* block);
std::size_t release_unused_of_blocks(PoolHeader& pool, ReturnedPages& returned);
bool add_live_of_blocks(PoolHeader& pool, std::uintptr_t& place, LivePicture& picture);
SlabOwner* owner_of_blocks(const PoolHeader& pool);

/// All of them.
constexpr PoolOperations operations_of_blocks(const char* kind) {
  return {.kind = kind,
          .record = PoolRecord::kBlocks,
          .deallocate = deallocate_block_of,
          .usable_size = usable_size_of_block,
          .use = use_of_blocks,
          .release_unused = release_unused_of_blocks,
          .add_live = add_live_of_blocks,
          .owner = owner_of_blocks};
}

/// A place in a slab of a pool.
struct BlockPlace {
  Span* slab;
  BlockIndex index;
};

/// \returns the place of `count` blocks side by side; stops the process when they are none of the pool's.
BlockPlace place_in_pool(const BlockPoolState& pool, const void* blocks, std::size_t count);

/// Stops the process when one of the blocks is marked free. Needs no lock.
void stop_if_free(const BlockPoolState& pool, const BlockPlace& place, std::size_t count);

/// A block that the inlined hit did not find. \param requested bytes, for profiles. \returns nullptr when it
/// is refused.
void* allocate_slow_from(BlockPoolState& pool, std::size_t requested);

// Blocks from slabs, without a look at what threads have. Each takes the mutex of the owner.

/// \returns the blocks, which may be nullptr. In the hardened library it stops the process where they have
/// been written since they were freed: of strides of 8 bytes and more.
void* checked_for_writes(const BlockPoolState& pool, void* blocks, std::size_t count);
/// \returns nullptr when no slab has one, and the pool may not or cannot grow.
void* take_from_slabs(BlockPoolState& pool);
/// Stops the process when the block is free.
void give_to_slabs(BlockPoolState& pool, void* block);
void give_run_to_slabs(BlockPoolState& pool, void* blocks, std::size_t count, ReturnedPages& returned);

// Runs of blocks side by side.

/// \returns a cached run of that length, or nullptr.
void* take_cached_run(BlockPoolState& pool, std::size_t count);
/// Caches a freed run. \returns false where the run may not be cached: then the caller gives it to the slabs.
bool cache_run(BlockPoolState& pool, void* blocks, std::size_t count);
/// Returns all cached runs to the slabs.
void return_runs(BlockPoolState& pool, ReturnedPages& returned);
/// \returns the first of `count` blocks side by side, from slabs; the pool grows when neither the slabs that
/// are searched nor what it has cached have such a run.
void* take_run(BlockPoolState& pool, std::size_t count);
void end_runs(BlockPoolState& pool);
/// Calls with runs may be hits again. \pre the pool is for one thread and has a table; the owner's mutex is
/// held.
void show_runs_locked(BlockPoolState& pool);

// The magazine of a pool for one thread: that thread calls these.

/// The pool has none yet.
void begin_own(BlockPoolState& pool, detail::OwnPoolFront& front);
void* take_from_own(BlockPoolState& pool);
void give_to_own(BlockPoolState& pool, void* block);
/// Returns its blocks to the slabs.
void empty_own(BlockPoolState& pool, ReturnedPages& returned);

/// Around each slow call of a pool for one thread: while the thread is watched, samples live or a walk goes
/// on, no call is a hit. Of other pools nothing.
class ShownHits {
 public:
  explicit ShownHits(BlockPoolState& pool);
  ~ShownHits();
  ShownHits(const ShownHits&) = delete;
  ShownHits& operator=(const ShownHits&) = delete;

 private:
  BlockPoolState& pool_;
};

/// While one exists, no thread gets magazines of the pool; what threads have when it begins returns to the
/// slabs, but for the newest block of threads that run, unless calls are marked. \pre the pool's mutex is
/// held at both ends.
NoMagazines without_magazines(BlockPoolState& pool, ReturnedPages& returned);

/// Between these no slab ends, no thread has magazines of the pool, and what the calling thread has cached
/// has returned to the slabs. Walks may be nested.
void begin_walk(BlockPoolState& pool);
void end_walk(BlockPoolState& pool);

/// Stops the process when an invariant does not hold. \pre no other thread uses the pool.
void validate(BlockPoolState& pool);

/// From now on each call goes to the slabs, until much is free again: then no free block is anywhere else.
/// \pre calls are marked.
void make_scarce(BlockPoolState& pool, ReturnedPages& returned);

}  // namespace tarn::internal

namespace TARN_NAMESPACE::detail {

/// Gives tests and the C functions access to a pool's state.
struct BlockPoolAccess {
  /// \returns false when memory is refused: then there is no pool.
  template <typename Front>
  static bool make(BasicFixedPool<Front>& place, const FixedPoolOptions& options) {
    auto* const pool = new (&place) BasicFixedPool<Front>;
    return make_pool(pool->front_, options, kPoisonsFreeBlocks);
  }
  template <typename Pool>
  static BlockPoolState& state(Pool& pool) {
    return *pool.front_.state;
  }
};

}  // namespace TARN_NAMESPACE::detail
