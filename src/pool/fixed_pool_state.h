// The library's record of a fixed pool, and the two back ends that a pool may have: its own chunks, or malloc
// for each allocation (the option pools_use_malloc), so that a checker which knows malloc sees the ends of
// every block. Making a pool fixes its back end.
//
// Invariant over chunks: capacity and mapped_bytes are sums over the ring; each chunk is in the ring and in
// one list of `runs`; live blocks = capacity - ones in the chunks' words - entries of magazines. When a word
// has ones that its chunk's summary lacks, the front has an unreported block of it; while the front has freed
// blocks, nobody but it takes ones; a pool with magazines has none of them. Of a buffer pool: taken == live
// blocks + the front's freed blocks + entries of magazines, without the depot's. handed_out() == capacity -
// ones of words that the walk does not stand on, unless the front has freed them; so live blocks never exceed
// it. Over malloc: there is no chunk; capacity counts live blocks, mapped_bytes is their bytes.
// Threads: those of the pool, one at a time, but for the magazines' own rules. Over malloc there is no lock:
// malloc may be ours, and must not be called under a pool's lock. Over chunks, `structure` guards changes of
// the ring, capacity and mapped_bytes, since observers read them.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/block_visitor.h"
#include "general/pool_header.h"
#include "os/fatal.h"
#include "pool/fixed_ring.h"
#include "pool/fixed_runs.h"
#include "pool/freed_runs.h"
#include "pool/shared_use.h"
#include "tarn/detail/buffer_front.h"
#include "tarn/fixed_pool.h"

namespace tarn::internal {

class ThreadMagazines;

using detail::TakenBlocks;

/// The functions that differ between back ends. A count of blocks is at least 1, at most blocks_per_chunk.
struct FixedPoolBackEnd {
  /// Takes a block when the word of the inlined paths is empty; nullptr when the block is refused.
  void* (*allocate)(detail::FixedPoolState& state);
  void* (*allocate_run)(detail::FixedPoolState& state, std::size_t count);
  void (*deallocate)(detail::FixedPoolState& state, void* block);
  void (*deallocate_run)(detail::FixedPoolState& state, void* blocks, std::size_t count);
  /// nullptr is ignored. Blocks that others freed last are no longer at hand.
  void (*deallocate_batch)(detail::FixedPoolState& state, void* const* blocks, std::size_t count);
  bool (*owns)(const detail::FixedPoolState& state, const void* pointer);
  std::size_t (*reserve)(detail::FixedPoolState& state, std::size_t count, bool populates);
  /// Gives chunks without live blocks back. \returns bytes.
  std::size_t (*release_unused)(detail::FixedPoolState& state, ReturnedPages& returned);
  /// Frees all live blocks; the pool stays usable.
  void (*clear)(detail::FixedPoolState& state);
  /// Gives all memory except the record back.
  void (*end)(detail::FixedPoolState& state, ReturnedPages& returned);
  void (*visit_live)(detail::FixedPoolState& state, const BlockVisitor& visit);
  /// \returns the oldest live block that malloc made; nullptr: there is none.
  void* (*first_of_malloc)(const detail::FixedPoolState& state);
  void (*validate)(detail::FixedPoolState& state);
};

extern const FixedPoolBackEnd kFixedPoolOverChunks;
extern const FixedPoolBackEnd kFixedPoolOverMalloc;
/// Before one of these, for a sensitive pool (wipe_block.h).
extern const FixedPoolBackEnd kWipedFixedPool;

}  // namespace tarn::internal

namespace TARN_NAMESPACE::detail {

struct FixedPoolState : internal::PoolHeader {
  static constexpr unsigned kFreedBlocks = 64;

  explicit FixedPoolState(FixedPoolFront& its_front) : front(&its_front), walk(ring, its_front) {
    its_front.freed_top = its_front.freed = its_front.freed_end = freed;
  }

  FixedPoolFront* front;
  BufferPoolFront* buffers = nullptr;  // whose blocks are of one of its sizes
  const internal::FixedPoolBackEnd* back_end = nullptr;
  const internal::FixedPoolBackEnd* unwiped_back_end = nullptr;  // the same, unless the pool is sensitive
  internal::ChunkRing ring;
  internal::ChunkWalk walk;
  internal::ChunkRuns runs;
  std::uint32_t blocks_per_chunk = 0;
  std::uint32_t chunks_made = 0;  // chooses the next colour
  std::size_t alignment = 0;
  std::size_t largest_count = 0;
  std::atomic<std::size_t> capacity{0};  // blocks
  std::atomic<std::size_t> mapped_bytes{0};
  AtCap at_cap{};
  bool is_checked = false;  // memory checkers know the pool
  bool poisons = false;     // free blocks are poisoned
  FreedBlock freed[kFreedBlocks];
  // From the first run freed on; none where blocks are poisoned or wiped.
  internal::FreedRuns* freed_runs = nullptr;
  bool has_hits = false;             // where blocks are neither poisoned nor wiped nor malloc's
  bool has_nothing_at_hand = false;  // keep_nothing_at_hand() was the last word
  bool may_have_magazines = false;   // its chunks have live bytes
  internal::SharedUse shared_use;    // while there are no magazines
  std::uint32_t walks = 0;  // over live blocks, under the mutex: no chunk ends, and no magazines begin
  /// Changes once, under the registry's lock and the pool's mutex.
  std::atomic<internal::ThreadMagazines*> magazines{nullptr};
  internal::TakenBlocks* taken = nullptr;  // of a buffer pool; over chunks, under the mutex
  std::atomic<std::size_t> peak{0};        // the most blocks handed out; over malloc, the most live ones
  std::atomic<std::size_t> refusals{0};    // calls that got no block
  void (*on_refusal)(void*) = nullptr;
  void* context = nullptr;

  bool counts_taken() const { return taken != nullptr && front->mutex != nullptr; }
  void note_taken(std::size_t count) {
    if (counts_taken()) taken->add(count);
  }
  void note_given_back(std::size_t count) {
    if (counts_taken()) taken->subtract(count);
  }

  std::size_t handed_out() const { return peak.load(std::memory_order_relaxed) - front->room_below_peak; }
  void note_handed_out(std::size_t count) {
    std::size_t& room = front->room_below_peak;
    const std::size_t beyond = count > room ? count - room : 0;
    room -= count - beyond;
    if (beyond != 0) peak.store(peak.load(std::memory_order_relaxed) + beyond, std::memory_order_relaxed);
  }
  void note_no_longer_handed_out(std::size_t count) { front->room_below_peak += count; }

  void note_refusal() { refusals.fetch_add(1, std::memory_order_relaxed); }

  [[noreturn]] void stop(const char* what, const void* block) const {
    internal::os::fatal_in_pool(name, what, block);
  }
};

/// Gives tests access to a pool's state.
struct FixedPoolAccess {
  template <typename Pool>
  static FixedPoolState& state(Pool& pool) {
    return *pool.front_.state;
  }
};

}  // namespace TARN_NAMESPACE::detail

namespace tarn::internal {

/// Makes a shared pool for one size of a buffer pool, whose blocks have counts of references.
/// \param taken zeroed; as long as the pool.
bool make_pool_of_size(detail::FixedPoolFront& front, TakenBlocks& taken, const FixedPoolOptions& options,
                       bool poisons, detail::BufferPoolFront& buffers, const PoolOperations& operations);
inline constexpr const char* kObjectPoolKind = "object pool";

/// Makes a shared pool that tells of itself as an object pool.
bool make_pool_of_objects(detail::FixedPoolFront& front, const FixedPoolOptions& options, bool poisons);
/// Whether the calling thread alone uses the pool, so that its inlined paths may be taken without a lock.
TARN_INLINE bool is_alone(const detail::FixedPoolFront& front) {
  return !detail::ProgramGuard::is_needed() && !__atomic_load_n(&front.has_magazines, __ATOMIC_RELAXED);
}

/// \returns nullptr while the pool has none.
inline ThreadMagazines* magazines_of(const detail::FixedPoolState& state) {
  return state.magazines.load(std::memory_order_acquire);
}

/// Whether all options are in their range.
bool are_valid(const FixedPoolOptions& options);

// The operations that fixed pools and the sizes of buffer pools share.
PoolUse use_of_fixed_pool(PoolHeader& pool, ReturnedPages& returned);
std::size_t release_unused_of_shared_pool(PoolHeader& pool, ReturnedPages& returned);
bool add_live_of_fixed_pool(PoolHeader& pool, std::uintptr_t& behind, LivePicture& picture);

/// As fixed_pool_allocate, for callers that have a door around it (general/memory_limits.h) and note the
/// refusal there: no function of the program's runs in the middle of their work.
TARN_INLINE void* allocate_inside_door(detail::FixedPoolState& state) {
  return detail::take_at_hand_or(*state.front, [&state] { return state.back_end->allocate(state); });
}

/// Takes a block inside of a door. \pre the pool has no magazines, and no other thread uses it meanwhile.
TARN_INLINE void* take_alone(detail::FixedPoolState& state) {
  const bool has_freed = state.front->freed_top != state.front->freed;
  void* const block = allocate_inside_door(state);
  if (!has_freed && block != nullptr) state.note_taken(1);
  return block;
}

/// Stops the process when the invariant is broken. \pre no other thread uses the pool.
inline void validate(detail::FixedPoolState& state) { state.back_end->validate(state); }

/// Stops the process when handles refer to a block that is freed as a plain one. \pre the span is a chunk of
/// a buffer pool's size, the index a block of it.
TARN_INLINE void stop_if_referred_to(const detail::FixedPoolState& state, const detail::SpanHead& span,
                                     std::uint64_t index, const void* block) {
  if (__atomic_load_n(detail::references_of(span, index), __ATOMIC_RELAXED) != 0) [[unlikely]]
    state.stop("free of a buffer that handles refer to", block);
}

// For the runs of a pool over chunks (freed_runs.h).

/// \returns the place of a run that is, or was, noted. \pre its chunk has not ended.
BlockRun run_of(const FreedRun& note);
/// Call when a run was freed to a word that its chunk's summary may not know of, or to a chunk that searches
/// pass by.
void note_freed_words(detail::FixedPoolState& state, const FreedRun& run);

/// As validate, of a pool over chunks.
void validate_chunks(detail::FixedPoolState& state);

/// While the calling thread is watched (watched_blocks.h), lets each of its calls take a slow door, if the
/// pool is the thread's alone: else all do anyway.
void adjust_to_watch(detail::FixedPoolState& state);

// The same of a pool over chunks.

/// Until keep_freed_at_hand(), each free takes the slow door, and so does the next allocation.
void keep_nothing_at_hand(detail::FixedPoolState& state);
void keep_freed_at_hand(detail::FixedPoolState& state);

// For the magazines of a pool over chunks, under its mutex.

/// Tells the chunks what the front knows; from now on it has no freed blocks, and the live bytes are true.
void begin_magazines(detail::FixedPoolState& state);
/// Takes blocks out of their chunk's words: at least `least` where there are that many, then the rest of the
/// last word, up to `most`; the last entry has the lowest address. Makes a chunk when no word has ones.
/// \returns how many; 0 when the pool cannot grow.
std::uint32_t take_free_blocks(detail::FixedPoolState& state, std::uint32_t least, std::uint32_t most,
                               FreeEntry* entries);
void free_entries(detail::FixedPoolState& state, const FreeEntry* entries, std::uint32_t count);
/// \returns the place of `count` blocks; stops the process when they are none of the pool. Needs no mutex.
BlockRun find_blocks(const detail::FixedPoolState& state, const void* blocks, std::size_t count);

}  // namespace tarn::internal
