// Blocks of one size from a ring of chunks, handed out in address order, one by one or n side by side.
//
// The idea comes from a paper on pools for mobile game servers (docs/pools/fixed_pool.md): equal chunks form
// a circle; a walk takes each chunk's free blocks from the lowest address up, goes on to the next chunk with
// free blocks, and starts over after the last chunk. The paper keeps a sorted list inside the free blocks, so
// freeing has to search. Here a bit outside of the block holds its state, and bits are always sorted: freeing
// sets a bit, n neighbours are a run of n ones, and nothing is written into a block. The blocks freed last,
// 32 or more of them, are handed out first, the last one before the others: a nearly full pool has its free
// blocks at hand. A run that was freed is handed out to the next request of its length.
//
// Threads: FixedPool is for one thread at a time; debug builds stop a second thread (TARN_CHECK_THREADS).
// SharedFixedPool is the same pool for any threads.
// Errors: a pool that may not or cannot grow first calls its hook, then returns nullptr or throws
// std::bad_alloc, as its options say. Freeing a pointer that is no live block of the pool stops the process
// with one line (docs/safety.md).
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "tarn/detail/error.h"
#include "tarn/detail/live_walk.h"
#include "tarn/detail/mutex.h"
#include "tarn/detail/span_head.h"
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
  std::size_t block_bytes = 0;  // 1 .. 262144
  // A power of two up to 65536; block_bytes is rounded up to a multiple of it.
  std::size_t alignment = 16;
  std::size_t blocks_per_chunk = 0;  // 1 .. 32768; 0: chunks of 64 KiB up to 1 KiB blocks, then larger ones
  std::size_t largest_count = SIZE_MAX;  // the most blocks the pool may have; the cap
  std::size_t initial_count = 0;         // blocks the pool has from the start
  AtCap at_cap = AtCap::kReturnNull;
  const char* name = "fixed pool";  // copied, up to 31 characters; nullptr: "fixed pool"
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

struct FixedPoolState;
struct FixedPoolAccess;
struct FreedRunTops;

/// A block that was freed of late, and is free. \invariant when all that were freed after it are live again,
/// its word is `word_before` and the block's own bit: words change in no other way while the front has freed
/// blocks.
struct FreedBlock {
  void* block;
  std::uint64_t* word;
  std::uint64_t word_before;  // 0: the ring does not know yet that the word has ones
};

/// The members that the inlined paths read and write; all others lie behind `state`.
/// Invariant: block i of `*word` is at word_start + i * stride.
struct FixedPoolFront {
  FreedBlock* freed_top;  // behind the block freed last, which is handed out first
  FreedBlock* freed;      // the oldest
  FreedBlock* freed_end;
  std::uint64_t* word;  // its ones are handed out next; before the first block, a word that is always 0
  char* word_start;
  std::size_t stride;
  std::uint64_t reciprocal;  // ceil(2^64 / stride)
  FixedPoolState* state;
  SpanTable spans;
  const void* user;        // the thread that uses the pool, while threads are checked
  Mutex* mutex;            // in `state`; nullptr: the caller keeps the calls apart
  const void* checked_as;  // the pool's name for memory checkers; nullptr: checkers are not told
  bool has_magazines;      // of a shared pool; changes once, under its mutex

  // For runs, in the library (pool/fixed_pool_runs.cc).
  FreedRunTops* freed_runs;
  std::size_t room_below_peak;  // so many more blocks may be handed out before the pool has a new peak
};

enum class PoolThreads : std::uint8_t { kOne, kAny };

TARN_API bool make_fixed_pool(FixedPoolFront& front, const FixedPoolOptions& options, PoolThreads threads,
                              bool poisons) noexcept;
TARN_API void end_fixed_pool(FixedPoolFront& front) noexcept;
TARN_API void* fixed_pool_allocate_slow(FixedPoolFront& front) noexcept;
TARN_API void fixed_pool_deallocate_slow(FixedPoolFront& front, void* block) noexcept;
// These keep the threads of a shared pool apart.
TARN_API void* fixed_pool_allocate_shared(FixedPoolFront& front) noexcept;
TARN_API void fixed_pool_deallocate_shared(FixedPoolFront& front, void* block) noexcept;
TARN_API std::size_t fixed_pool_allocate_batch(FixedPoolFront& front, std::size_t count,
                                               void** blocks) noexcept;
TARN_API void fixed_pool_deallocate_batch(FixedPoolFront& front, void* const* blocks,
                                          std::size_t count) noexcept;
TARN_API void* fixed_pool_allocate_run(FixedPoolFront& front, std::size_t count) noexcept;
TARN_API void fixed_pool_deallocate_run(FixedPoolFront& front, void* blocks, std::size_t count) noexcept;
TARN_API bool fixed_pool_owns(const FixedPoolFront& front, const void* pointer) noexcept;
TARN_API std::size_t fixed_pool_reserve(FixedPoolFront& front, std::size_t count, bool populates) noexcept;
TARN_API std::size_t fixed_pool_release_unused(FixedPoolFront& front) noexcept;
TARN_API void fixed_pool_clear(FixedPoolFront& front) noexcept;
TARN_API std::size_t fixed_pool_capacity(const FixedPoolFront& front) noexcept;
TARN_API std::size_t fixed_pool_usable_count(const FixedPoolFront& front) noexcept;
TARN_API std::size_t fixed_pool_live_count(const FixedPoolFront& front) noexcept;
TARN_API std::size_t fixed_pool_blocks_per_chunk(const FixedPoolFront& front) noexcept;
TARN_API std::size_t fixed_pool_alignment(const FixedPoolFront& front) noexcept;
TARN_API std::size_t fixed_pool_chunk_count(const FixedPoolFront& front) noexcept;
TARN_API bool fixed_pool_throws(const FixedPoolFront& front) noexcept;
TARN_API void fixed_pool_refused(FixedPoolFront& front) noexcept;
TARN_API void fixed_pool_check_user_slow(FixedPoolFront& front) noexcept;

// Its members are read one by one: they may have just been stored so, and a load of several would wait.
TARN_INLINE void* take_freed(FixedPoolFront& front, FreedBlock* last) {
  std::uint64_t* const word = __atomic_load_n(&last->word, __ATOMIC_RELAXED);
  front.freed_top = last;
  __atomic_store_n(word, __atomic_load_n(&last->word_before, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
  return __atomic_load_n(&last->block, __ATOMIC_RELAXED);
}

/// \returns a block that is at hand; else what more() returns.
template <typename More>
TARN_INLINE void* take_at_hand_or(FixedPoolFront& front, const More& more) {
  // Observers of other threads read the words; a store costs what a plain one does.
  if (FreedBlock* const top = front.freed_top; top != front.freed) {
    return take_freed(front, top - 1);
  }
  const std::uint64_t bits = *front.word;
  if (bits == 0) [[unlikely]]
    return more();
  __atomic_store_n(front.word, bits & (bits - 1), __ATOMIC_RELAXED);
  return front.word_start + static_cast<unsigned>(__builtin_ctzll(bits)) * front.stride;
}

// Local: the function inside of it would be a symbol of its own.
TARN_LOCAL TARN_INLINE void* fixed_pool_allocate(FixedPoolFront& front) {
  return take_at_hand_or(front, [&front] { return fixed_pool_allocate_slow(front); });
}

/// Finds a block's index in a chunk of a fixed pool. \returns false when the address lies between blocks, or
/// before or behind all blocks.
TARN_INLINE bool find_in_span(const SpanHead& span, std::uint64_t reciprocal, const void* block,
                              std::uint64_t* found) {
  const auto offset = static_cast<std::uint64_t>(static_cast<const char*>(block) - span.start);
  // The upper half of the product is the index; the lower half is below the factor only when the division is
  // exact (a divisibility test by D. Lemire, O. Kaser and N. Kurz, 2019).
  __extension__ using Product = unsigned __int128;
  const Product product = Product{offset} * reciprocal;
  const auto index = static_cast<std::uint64_t>(product >> 64);
  if (static_cast<std::uint64_t>(product) >= reciprocal || index >= span.pool_blocks) [[unlikely]]
    return false;
  *found = index;
  return true;
}

/// Puts a block whose place is known on top of the freed ones. \returns false when they are full, or the
/// block is free; then nothing has happened.
TARN_INLINE bool fixed_pool_put_freed(FixedPoolFront& front, const SpanHead& span, std::uint64_t index,
                                      void* block) {
  std::uint64_t* const word = span.free_bits + index / 64;
  const std::uint64_t before = *word;
  const std::uint64_t bit = std::uint64_t{1} << (index % 64);
  FreedBlock* const top = front.freed_top;
  if ((before & bit) != 0 || top == front.freed_end) [[unlikely]]
    return false;
  // One by one: a compiler that joins plain stores in a vector register delays the next allocation by them.
  __atomic_store_n(&top->block, block, __ATOMIC_RELAXED);
  __atomic_store_n(&top->word, word, __ATOMIC_RELAXED);
  __atomic_store_n(&top->word_before, before, __ATOMIC_RELAXED);
  front.freed_top = top + 1;
  __atomic_store_n(word, before | bit, __ATOMIC_RELAXED);
  return true;
}

/// Frees a block whose place is known.
TARN_INLINE void fixed_pool_deallocate_at(FixedPoolFront& front, const SpanHead& span, std::uint64_t index,
                                          void* block) {
  // A bit that is set already is an error too.
  if (!fixed_pool_put_freed(front, span, index, block)) [[unlikely]]
    fixed_pool_deallocate_slow(front, block);
}

TARN_INLINE void fixed_pool_deallocate(FixedPoolFront& front, void* block) {
  const SpanHead* const span = front.spans.find(block);
  if (span == nullptr || span->marked_pool() != front.state) [[unlikely]]
    return fixed_pool_deallocate_slow(front, block);
  std::uint64_t index = 0;
  if (!find_in_span(*span, front.reciprocal, block, &index)) [[unlikely]]
    return fixed_pool_deallocate_slow(front, block);
  fixed_pool_deallocate_at(front, *span, index, block);
}

/// Whether no other thread uses a shared pool now, and all free blocks are the front's.
TARN_INLINE bool is_alone(const FixedPoolFront& front) {
  return !ProgramGuard::is_needed() && !__atomic_load_n(&front.has_magazines, __ATOMIC_RELAXED);
}

/// The same, out of line: hits of a pool for one thread, or for any.
TARN_API void* fixed_pool_allocate_by_call(FixedPoolFront& front, PoolThreads threads) noexcept;
TARN_API void fixed_pool_deallocate_by_call(FixedPoolFront& front, PoolThreads threads, void* block) noexcept;

}  // namespace detail

/// The functions that FixedPool and SharedFixedPool share.
template <detail::PoolThreads kThreads>
class BasicFixedPool {
 public:
  /// \throws std::bad_alloc when memory is refused or an option is out of its range.
  TARN_LOCAL explicit BasicFixedPool(const FixedPoolOptions& options) {
    if (!detail::make_fixed_pool(front_, options, kThreads, detail::kPoisonsFreeBlocks))
      detail::throw_bad_alloc();
  }
  TARN_LOCAL explicit BasicFixedPool(std::size_t block_bytes, const char* name = nullptr)
      : BasicFixedPool(FixedPoolOptions{.block_bytes = block_bytes, .name = name}) {}
  template <std::convertible_to<const char*> Name>
  explicit BasicFixedPool(Name) {
    static_assert(sizeof(Name) == 0, "a pool of blocks is told their size: FixedPool(64, \"name\")");
  }
  /// The pool's end frees all blocks, also live ones. \pre no other thread uses the pool any more.
  TARN_LOCAL ~BasicFixedPool() { detail::end_fixed_pool(front_); }
  BasicFixedPool(const BasicFixedPool&) = delete;  // pools stay in place: std::deque, std::list, unique_ptr
  BasicFixedPool& operator=(const BasicFixedPool&) = delete;
  template <std::same_as<BasicFixedPool> Moved>
  BasicFixedPool(Moved&&) noexcept {
    detail::stop_at_move<Moved>();
  }

  /// \returns a block of block_bytes(), contents undefined; the one freed last, else the lowest behind the
  /// one before. \cost inlined: some loads, a store to its word of bits; of a shared pool a call,
  /// once the process has threads.
  [[nodiscard]] TARN_INLINE void* allocate() {
    check_user();
    void* block = nullptr;
    if constexpr (detail::kHitsAreCalls) {
      block = detail::fixed_pool_allocate_by_call(front_, kThreads);
    } else if (is_alone()) {
      block = detail::fixed_pool_allocate(front_);
    } else {
      block = detail::fixed_pool_allocate_shared(front_);
    }
    if (block == nullptr) [[unlikely]]
      return refuse();
    if constexpr (detail::kTellsTools) detail::annotate_allocation(front_.checked_as, block, front_.stride);
    return block;
  }

  /// \returns the address of the first of `count` blocks side by side. 0 blocks, and more than a chunk has,
  /// are refused as allocate() refuses at the cap.
  /// \cost a call and two words of bits, if a run of up to 64 blocks was freed with that count and is whole;
  /// else O(words of 64 blocks in a chunk), independent of `count`.
  [[nodiscard]] TARN_LOCAL void* allocate_run(std::size_t count) {
    check_user();
    void* const blocks = detail::fixed_pool_allocate_run(front_, count);
    if (blocks == nullptr) return refuse();
    detail::annotate_allocation(front_.checked_as, blocks, front_.stride, count);
    return blocks;
  }

  /// nullptr is ignored. \cost inlined: a table lookup, a multiplication, a bit; of a shared pool a call
  /// and an atomic exchange, or a mutex.
  TARN_INLINE void deallocate(void* block) noexcept {
    check_user();
    // Checkers are told first: after the free, another thread may be given the block.
    if constexpr (detail::kTellsTools)
      if (block != nullptr) detail::annotate_deallocation(front_.checked_as, block, front_.stride);
    if constexpr (detail::kHitsAreCalls) {
      detail::fixed_pool_deallocate_by_call(front_, kThreads, block);
    } else if (is_alone()) {
      detail::fixed_pool_deallocate(front_, block);
    } else {
      detail::fixed_pool_deallocate_shared(front_, block);
    }
  }

  /// Frees `count` blocks side by side; they may come from one call or from several. \cost a table lookup, a
  /// multiplication, two words of bits; the first time for a count, 2 KiB of memory for the library.
  TARN_LOCAL void deallocate_run(void* blocks, std::size_t count) noexcept {
    check_user();
    if (blocks == nullptr) return;
    detail::annotate_deallocation(front_.checked_as, blocks, front_.stride, count);
    detail::fixed_pool_deallocate_run(front_, blocks, count);
  }

  /// Fills `blocks` with up to `count` blocks. \returns how many blocks there are; fewer only at the cap, and
  /// then without a throw. \cost of a shared pool one lock for all, with magazines one for each 32.
  [[nodiscard]] TARN_LOCAL std::size_t allocate_batch(std::size_t count, void** blocks) noexcept {
    check_user();
    const std::size_t taken = detail::fixed_pool_allocate_batch(front_, count, blocks);
    for (std::size_t i = 0; i < taken; ++i)
      detail::annotate_allocation(front_.checked_as, blocks[i], front_.stride);
    if (taken != count) detail::fixed_pool_refused(front_);
    return taken;
  }
  TARN_LOCAL void deallocate_batch(void* const* blocks, std::size_t count) noexcept {
    check_user();
    for (std::size_t i = 0; i < count; ++i)
      if (blocks[i] != nullptr) detail::annotate_deallocation(front_.checked_as, blocks[i], front_.stride);
    detail::fixed_pool_deallocate_batch(front_, blocks, count);
  }

  /// \returns whether an address lies in one of the pool's chunks.
  TARN_LOCAL bool owns(const void* pointer) const noexcept {
    return detail::fixed_pool_owns(front_, pointer);
  }

  /// Grows until at least `count` blocks are usable. \returns how many are usable; fewer at the cap or when
  /// memory is refused.
  TARN_LOCAL std::size_t reserve(std::size_t count) noexcept {
    check_user_if_known();
    return detail::fixed_pool_reserve(front_, count, false);
  }

  /// The same, with all blocks backed by memory, so that no first touch faults.
  TARN_LOCAL std::size_t prewarm(std::size_t count) noexcept {
    check_user_if_known();
    return detail::fixed_pool_reserve(front_, count, true);
  }

  /// Gives chunks without live blocks back to the page cache. \returns their bytes.
  TARN_LOCAL std::size_t release_unused() noexcept {
    check_user();
    return detail::fixed_pool_release_unused(front_);
  }

  /// Frees all live blocks at once; the pool keeps its chunks. \cost a store per 64 blocks, with
  /// magazines one more for each block.
  TARN_LOCAL void clear() noexcept {
    check_user();
    detail::fixed_pool_clear(front_);
  }

  /// Calls visit(void* block) for each live block, in address order; of a run, for each of its blocks. visit
  /// may free any blocks and allocate new ones: a block freed before its turn is not visited, one allocated
  /// meanwhile may be. Meanwhile release_unused() returns 0. An exception of visit ends the walk.
  /// With other threads: a block that lives during the whole call is visited exactly once.
  /// \pre no other thread frees a block that visit touches, and visit touches none that another thread is yet
  /// to fill. \cost a step per live block, and one per 64 blocks (with magazines, per 8).
  template <typename Visit>
  TARN_LOCAL void for_each_live(Visit&& visit) {
    check_user();
    detail::visit_live_blocks(front_, front_.stride, visit);
  }

  /// Lets another thread use the pool from now on. Does nothing unless threads are checked.
  void detach_from_thread() noexcept requires(kThreads == detail::PoolThreads::kOne) {
    front_.user = nullptr;
  }

  std::size_t block_bytes() const noexcept { return front_.stride; }
  TARN_LOCAL std::size_t alignment() const noexcept { return detail::fixed_pool_alignment(front_); }
  TARN_LOCAL std::size_t blocks_per_chunk() const noexcept {
    return detail::fixed_pool_blocks_per_chunk(front_);
  }
  TARN_LOCAL std::size_t chunk_count() const noexcept { return detail::fixed_pool_chunk_count(front_); }
  /// \returns how many blocks the pool has, live or not.
  TARN_LOCAL std::size_t capacity() const noexcept { return detail::fixed_pool_capacity(front_); }
  /// \returns how many blocks can be had without growing. \cost counts the bits, a word per 64 blocks;
  /// with magazines, threads wait meanwhile. live_count() does the same.
  TARN_LOCAL std::size_t usable_count() const noexcept { return detail::fixed_pool_usable_count(front_); }
  TARN_LOCAL std::size_t live_count() const noexcept { return detail::fixed_pool_live_count(front_); }

 private:
  friend struct detail::FixedPoolAccess;
  TARN_INLINE bool is_alone() const {
    return kThreads == detail::PoolThreads::kOne || detail::is_alone(front_);
  }
  TARN_INLINE void check_user() {
#if TARN_CHECK_THREADS
    if constexpr (kThreads == detail::PoolThreads::kOne)
      if (front_.user != &detail::thread_cache) detail::fixed_pool_check_user_slow(front_);
#endif
  }
  /// For calls that make a pool ready, which another thread may use from then on.
  TARN_LOCAL void check_user_if_known() {
    if (front_.user != nullptr) check_user();
  }
  [[gnu::cold, gnu::noinline]] TARN_LOCAL void* refuse() {
    detail::fixed_pool_refused(front_);
    if (detail::fixed_pool_throws(front_)) detail::throw_bad_alloc();
    return nullptr;
  }

  detail::FixedPoolFront front_;
};

/// For one thread at a time.
class FixedPool : public BasicFixedPool<detail::PoolThreads::kOne> {
 public:
  using BasicFixedPool::BasicFixedPool;
  TARN_LOCAL explicit FixedPool(const FixedPoolOptions& options) : BasicFixedPool(options) {}
  TARN_LOCAL explicit FixedPool(std::size_t block_bytes, const char* name = nullptr)
      : BasicFixedPool(block_bytes, name) {}
  FixedPool(FixedPool&&) = default;  // as the base's
  TARN_LOCAL ~FixedPool() = default;
};

/// FixedPool for any number of threads: the same functions. A pool begins with one mutex (which a process of
/// one thread does not take), and hands blocks out in the same order. After some hundred calls of a process
/// with more threads, each thread gets a magazine of up to 64 free blocks (256 KiB of them, or two), which
/// it uses without a lock; blocks that were freed then come before others. A block is refused only when none
/// is free anywhere. A run may make the pool grow although free neighbours lie in magazines; it is refused
/// only when even these do not help. Counts are exact at the moment of the call. Memory: a byte for each
/// block; with magazines 4 KiB, and 1 KiB for each thread that uses the pool. Cost: an atomic exchange for
/// each free.
class SharedFixedPool : public BasicFixedPool<detail::PoolThreads::kAny> {
 public:
  using BasicFixedPool::BasicFixedPool;
  TARN_LOCAL explicit SharedFixedPool(const FixedPoolOptions& options) : BasicFixedPool(options) {}
  TARN_LOCAL explicit SharedFixedPool(std::size_t block_bytes, const char* name = nullptr)
      : BasicFixedPool(block_bytes, name) {}
  SharedFixedPool(SharedFixedPool&&) = default;  // as the base's
  TARN_LOCAL ~SharedFixedPool() = default;
};

}  // namespace TARN_NAMESPACE
