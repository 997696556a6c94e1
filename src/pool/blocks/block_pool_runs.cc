// Runs of a block pool: blocks side by side in a slab.
//
// A run that is freed is cached for the next request of its length, as a block is in a magazine: in its slab
// it counts as taken. Where no run of the length is cached, slabs are searched from the back of their list,
// where those with most free blocks are (central/slabs/class_slabs.h); several runs are taken at once,
// twice as many each time. If no slab has one, a longer cached run is cut. If there is none either, all
// cached blocks and runs return to the slabs, which joins what lies side by side, and from then on one run
// is taken at a time again. Then the pool grows.
//
// Threads: those of the pool. Of a pool for any threads the arrays are under its owner's mutex.
#include <bit>
#include <climits>

#include "base/bitmap.h"
#include "central/cached/cached_blocks.h"
#include "central/slabs/class_slabs.h"
#include "central/slabs/remote_free.h"
#include "page/memory/metadata.h"
#include "pool/blocks/block_pool_state.h"
#include "thread/pools/pool_owner.h"
#include "thread/this_thread.h"

namespace tarn::internal {

using detail::CachedRuns;
using detail::kLongestCachedRun;
using detail::OwnRecord;
using detail::RunTable;

namespace {

constexpr std::uint32_t kMostRefill = 16, kFirstRuns = 63;
// So many slabs are searched before a pool that may grow does.
constexpr unsigned kSlabsTried = 64;

bool has_length(std::size_t count) { return count >= 2 && count <= kLongestCachedRun; }

std::uint64_t bit_of_length(std::size_t count) { return std::uint64_t{1} << (count - 1); }

void* pop_run(BlockPoolState& pool, CachedRuns* runs, std::size_t count) {
  void* const run = runs == nullptr ? nullptr : detail::pop(*runs->record);
  // Of a pool for one thread it stays: inlined frees would not set it again.
  if (run != nullptr && pool.own == nullptr && runs->cached.count() == 0)
    pool.run_lengths = pool.run_lengths & ~bit_of_length(count);
  return run;
}

// \pre there is room.
void push_run(BlockPoolState& pool, CachedRuns& runs, void* run, std::size_t count) {
  void** const top = runs.record->top;
  __atomic_store_n(top + 1, run, __ATOMIC_RELAXED);
  __atomic_store_n(&runs.record->top, top + 1, __ATOMIC_RELEASE);
  pool.run_lengths = pool.run_lengths | bit_of_length(count);
}

bool keeps_runs(const BlockPoolState& pool) {
  return pool.source != BlockPoolState::Source::kSlabs && pool.source != BlockPoolState::Source::kMalloc;
}

bool may_be_cached(const BlockPoolState& pool, std::size_t count) {
  return has_length(count) && keeps_runs(pool) && !checks_pools() && !thread_limits.every_call_is_slow;
}

CachedRuns* runs_of(const BlockPoolState& pool, std::size_t count) {
  return pool.runs != nullptr && has_length(count) ? pool.runs->of[count] : nullptr;
}

CachedRuns* runs_of_own(const BlockPoolState& pool, std::size_t count) {
  return pool.own != nullptr ? runs_of(pool, count) : nullptr;
}

// \pre the owner's mutex is held, for all three.
void set_limit_locked(CachedRuns& runs) {
  __atomic_store_n(&runs.record->limit, runs.cached.slots + runs.cached.capacity, __ATOMIC_RELAXED);
}

bool grow_runs_locked(CachedRuns& runs, std::uint32_t capacity) {
  if (!grow_cached_blocks_locked(runs.cached, runs.record->top, capacity)) return false;
  set_limit_locked(runs);
  return true;
}

// \returns nullptr when memory is refused.
CachedRuns* make_runs_locked(BlockPoolState& pool, std::size_t count) {
  if (pool.runs == nullptr) {
    pool.runs = metadata.make<RunTable>();
    if (pool.runs == nullptr) return nullptr;
    for (OwnRecord& record : pool.runs->records) record = {&pool.nothing, &pool.nothing};
    if (pool.own != nullptr) pool.own->runs = pool.runs->records;
  }
  auto* const runs = metadata.make<CachedRuns>();
  if (runs == nullptr) return nullptr;
  runs->record = &pool.runs->records[count];
  if (!grow_runs_locked(*runs, kFirstRuns)) {
    metadata.end(runs);
    return nullptr;
  }
  runs->cached.top = &runs->record->top;
  if (pool.own != nullptr) runs->cached.limit = &runs->record->limit;
  runs->cached.run_length = static_cast<std::uint32_t>(count);
  add_cached_blocks_locked(*pool.owner, runs->cached);
  return pool.runs->of[count] = runs;
}

// As many as may lie in half of the pool's blocks. \returns whether there is room for one more.
bool grow_runs(BlockPoolState& pool, CachedRuns& runs, std::size_t count) {
  const std::size_t room = pool.owner->of(pool.size_class).totals.blocks / (2 * count);
  const std::uint32_t twice = runs.cached.capacity * 2 + 1;
  if (twice > room || twice > kLargestMagazine) return false;
  if (pool.own == nullptr) return grow_runs_locked(runs, twice);
  os::LockGuard guard(pool.owner->mutex);
  return grow_runs_locked(runs, twice);
}

// \returns whether the run is cached now.
bool keep(BlockPoolState& pool, CachedRuns* runs, void* run, std::size_t count) {
  if (runs == nullptr) return false;
  if (*runs->record->top == run) pool.stop("double free", run);
  if (runs->cached.count() == runs->cached.capacity && !grow_runs(pool, *runs, count)) return false;
  push_run(pool, *runs, run, count);
  return true;
}

// Clears the bits of a run that was found.
void* take_found(Span& slab, std::size_t first, std::size_t count) {
  bitmap::clear_range(slab.free_bits, first, count);
  slab.free_count -= static_cast<std::uint32_t>(count);
  return slab.block(static_cast<BlockIndex>(first));
}

// Takes up to `most` runs, in one walk along the bits. \returns how many.
std::uint32_t take_runs(Span& slab, std::size_t count, void** runs, std::uint32_t most) {
  if (count > bitmap::kWordBits) {
    const std::size_t first = bitmap::find_run(slab.free_bits, slab.block_count, count);
    if (first >= slab.block_count) return 0;
    runs[0] = take_found(slab, first, count);
    return 1;
  }
  const bitmap::RunFinder finder(static_cast<unsigned>(count));
  const std::uint32_t words = slab.word_count;
  std::uint32_t taken = 0;
  for (std::uint32_t word = slab.scan_word; word < words && taken < most;) {
    const std::uint64_t behind = word + 1 < words ? slab.free_bits[word + 1] : 0;
    const unsigned first = finder.first_in(slab.free_bits[word], behind);
    if (first == bitmap::kWordBits) {
      ++word;
    } else {
      runs[taken++] = take_found(slab, std::size_t{word} * bitmap::kWordBits + first, count);
    }
  }
  return taken;
}

// Takes a run of the slab, and some more to cache.
void* take_of_slab_locked(BlockPoolState& pool, Span& slab, std::size_t count) {
  if (slab.free_count < count || slab.longest_run < count) return nullptr;
  SlabOwner& owner = *pool.owner;
  const bool keeps = may_be_cached(pool, count) && (pool.own == nullptr || pool.walks == 0) &&
                     owner.no_magazines.load(std::memory_order_seq_cst) == 0;
  CachedRuns* const runs = keeps ? runs_of(pool, count) : nullptr;
  // There may be some: a watched thread takes none of them, and other threads of the pool free meanwhile.
  const std::uint32_t room = runs != nullptr ? runs->cached.capacity - runs->cached.count() : 0;
  void* found[kMostRefill];
  const std::uint32_t taken =
      take_runs(slab, count, found, runs != nullptr && runs->refill <= room ? runs->refill : 1);
  if (taken == 0) {
    slab.longest_run = static_cast<std::uint16_t>(count - 1);
    return nullptr;
  }
  for (std::uint32_t i = taken; i-- > 1;) push_run(pool, *runs, found[i], count);
  if (runs != nullptr && runs->refill < kMostRefill) runs->refill *= 2;
  while (slab.scan_word < slab.word_count && slab.free_bits[slab.scan_word] == 0) ++slab.scan_word;
  slab.quiet = Quiet::kNot;
  note_taken(owner, std::size_t{taken} * count * slab.stride);
  settle_taken(owner, &slab);
  return found[0];
}

void* find_run_locked(BlockPoolState& pool, std::size_t count, unsigned most_slabs) {
  SlabOwner& owner = *pool.owner;
  if (count >= owner.missing_run) return nullptr;
  Span* slab = owner.of(pool.size_class).available.last();
  for (unsigned tried = 0; slab != nullptr && tried < most_slabs; slab = slab->previous, ++tried)
    if (void* const run = take_of_slab_locked(pool, *slab, count)) return run;
  if (slab == nullptr) owner.missing_run = static_cast<std::uint32_t>(count);
  return nullptr;
}

void* find_run(BlockPoolState& pool, std::size_t count, unsigned most_slabs) {
  ReturnedPages returned;
  SlabOwner& owner = *pool.owner;
  os::LockGuard guard(owner.mutex);
  ++owner.slow_calls;
  collect_pending_locked(owner, pool.size_class, returned);
  return find_run_locked(pool, count, most_slabs);
}

// Takes the beginning of a longer cached run.
void* take_of_longer_run(BlockPoolState& pool, std::size_t count, ReturnedPages& returned) {
  if (count >= kLongestCachedRun) return nullptr;
  for (std::uint64_t longer = pool.run_lengths & ~std::uint64_t{0} << count; longer != 0;
       longer &= longer - 1) {
    const auto length = static_cast<std::size_t>(std::countr_zero(longer)) + 1;
    auto* const run = static_cast<char*>(take_cached_run(pool, length));
    if (run == nullptr) continue;
    char* const rest = run + count * pool.stride;
    if (!cache_run(pool, rest, length - count)) give_run_to_slabs(pool, rest, length - count, returned);
    return run;
  }
  return nullptr;
}

void* run_of_new_slab(BlockPoolState& pool, std::size_t count) {
  os::LockGuard guard(pool.owner->mutex);
  Span* const slab = make_slab_locked(*pool.owner, pool.size_class);
  return slab == nullptr ? nullptr : take_of_slab_locked(pool, *slab, count);
}

}  // namespace

// Of a pool for one thread, no other thread changes what is cached.
void* take_cached_run(BlockPoolState& pool, std::size_t count) {
  if (pool.own != nullptr) return pop_run(pool, runs_of(pool, count), count);
  if (!has_length(count) || !keeps_runs(pool)) return nullptr;
  os::LockGuard guard(pool.owner->mutex);
  return pop_run(pool, runs_of(pool, count), count);
}

bool cache_run(BlockPoolState& pool, void* blocks, std::size_t count) {
  if (!may_be_cached(pool, count)) return false;
  const ShownHits shown(pool);
  CachedRuns* runs = runs_of_own(pool, count);
  if (runs != nullptr) return pool.walks == 0 && keep(pool, runs, blocks, count);
  os::LockGuard guard(pool.owner->mutex);
  if (pool.owner->no_magazines.load(std::memory_order_seq_cst) != 0) return false;
  runs = runs_of(pool, count);
  return keep(pool, runs != nullptr ? runs : make_runs_locked(pool, count), blocks, count);
}

void return_runs(BlockPoolState& pool, ReturnedPages& returned) {
  for (std::size_t count = 2; count <= kLongestCachedRun; ++count)
    while (void* const run = take_cached_run(pool, count)) give_run_to_slabs(pool, run, count, returned);
  if (!keeps_runs(pool)) return;
  os::LockGuard guard(pool.owner->mutex);
  for (std::size_t count = 2; count <= kLongestCachedRun; ++count)
    if (CachedRuns* const runs = runs_of(pool, count)) runs->refill = 1;
}

void* take_run(BlockPoolState& pool, std::size_t count) {
  // From cheap to dear: some slabs; part of a longer cached run; some again, once this thread's caches and
  // all runs are back; a new slab; if there is none, all slabs, while no thread has a magazine.
  ReturnedPages returned;
  if (void* const run = find_run(pool, count, kSlabsTried)) return run;
  if (void* const run = take_of_longer_run(pool, count, returned)) return run;
  if (pool.own != nullptr) empty_own(pool, returned);
  if (pool.size_class != SizeClass::kNone) return_magazines_of_caller(*pool.owner, returned);
  return_runs(pool, returned);
  if (void* const run = find_run(pool, count, kSlabsTried)) return run;
  if (void* const run = run_of_new_slab(pool, count)) return run;
  if (pool.source == BlockPoolState::Source::kMarked) {
    make_scarce(pool, returned);
    return find_run(pool, count, UINT_MAX);
  }
  os::LockGuard guard(pool.mutex);
  const NoMagazines without = without_magazines(pool, returned);
  return find_run(pool, count, UINT_MAX);
}

void end_runs(BlockPoolState& pool) {
  if (pool.runs == nullptr) return;
  if (pool.own != nullptr) pool.own->runs = nullptr;
  for (CachedRuns* const runs : pool.runs->of)
    if (runs != nullptr) {
      end_cached_blocks(runs->cached);
      metadata.end(runs);
    }
  metadata.end(pool.runs);
  pool.runs = nullptr;
}

void show_runs_locked(BlockPoolState& pool) {
  for (CachedRuns* const runs : pool.runs->of)
    if (runs != nullptr) set_limit_locked(*runs);
  pool.own->runs = pool.runs->records;
}

}  // namespace tarn::internal
