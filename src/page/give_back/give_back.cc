// How the page cache gives pages back: dirty pages leave the lists while the system purges them, so that its
// lock is not held across the call. give_back_policy.h says how much.
#include <bit>
#include <cstring>

#include "base/bits.h"
#include "os/memory/memory.h"
#include "page/give_back/page_cache.h"
#include "page/memory/memory_limit.h"
#include "page/spans/live_map.h"

namespace tarn::internal {
namespace {

constexpr unsigned kRangesPerPurge = 16;

os::Mutex& give_back_mutex = os::global_mutex<os::LockRank::kGiveBack>();

}  // namespace

GiveBackGuard::GiveBackGuard() { give_back_mutex.lock(); }
GiveBackGuard::~GiveBackGuard() { give_back_mutex.unlock(); }

bool is_giving_back() {
  if (!give_back_mutex.try_lock()) return true;
  give_back_mutex.unlock();
  return false;
}

void free_used_pages(char* start, PageCount pages) {
  PageState state = PageState::kDirty;
  if constexpr (detail::kIsHardened) {
    if (os::purge(start, bytes_of(pages))) {
      state = PageState::kClean;
    } else {
      std::memset(start, 0, bytes_of(pages));
    }
  }
  page_cache.free_pages(start, pages, state);
}

Chunk* PageCache::coldest_dirty_locked() {
  Chunk* sparse = lists_[static_cast<unsigned>(Density::kSparse)].coldest_dirty();
  Chunk* const undumped = lists_[static_cast<unsigned>(Density::kUndumped)].coldest_dirty();
  if (sparse == nullptr || (undumped != nullptr && undumped->dirty_run > sparse->dirty_run))
    sparse = undumped;
  Chunk* const dense = lists_[static_cast<unsigned>(Density::kDense)].coldest_dirty();
  if (sparse == nullptr || dense == nullptr) return sparse != nullptr ? sparse : dense;
  // Whole huge pages first, split ones last.
  return dense->dirty_run == kPagesPerChunk || sparse->dirty_run == 0 ? dense : sparse;
}

// Takes dirty runs out of the cache until they add up to `bytes`: longest runs first, the coldest of equals.
// Of a chunk without a span all is taken, so that it can be left out of dumps of the process.
unsigned PageCache::collect_dirty_locked(Range* ranges, unsigned capacity, std::size_t bytes) {
  unsigned count = 0;
  std::size_t collected = 0;
  while (count < capacity && collected < bytes) {
    Chunk* const coldest = coldest_dirty_locked();
    if (coldest == nullptr) break;
    Chunk& chunk = *coldest;
    unsigned first = 0;
    PageCount pages{kPagesPerChunk};
    if (chunk.free_run != kPagesPerChunk) {
      first = static_cast<unsigned>(std::countr_zero(run_starts(chunk.dirty_mask, chunk.dirty_run)));
      pages = PageCount{chunk.dirty_run};
    }
    const std::uint32_t mask = run_mask(first, number_of(pages));
    ranges[count] = {chunk.page(first), pages, chunk.dirty_mask & mask};
    chunk.free_mask &= ~mask;
    chunk.dirty_mask &= ~mask;
    relist_locked(chunk);
    collected += bytes_of(ranges[count++].dirty());
  }
  return count;
}

std::size_t PageCache::purge(std::size_t bytes) {
  std::size_t purged = 0;
  while (purged < bytes) {
    const GiveBackGuard give_back;
    Range ranges[kRangesPerPurge];
    unsigned count = 0;
    {
      os::LockGuard guard(mutex_);
      count = collect_dirty_locked(ranges, kRangesPerPurge, bytes - purged);
      for (unsigned i = 0; i < count; ++i) {
        dirty_bytes_ -= bytes_of(ranges[i].dirty());
        taken_out_pages_ += ranges[i].pages;
      }
      policy_.note_low(dirty_bytes_);
    }
    if (count == 0) break;
    bool was_refused[kRangesPerPurge];
    for (unsigned i = 0; i < count; ++i) {
      was_refused[i] = !os::purge(ranges[i].start, bytes_of(ranges[i].pages));
      if (was_refused[i] || ranges[i].pages != PageCount{kPagesPerChunk}) continue;
      os::leave_out_of_dumps(ranges[i].start, kChunkBytes);
      live_map.purge(ranges[i].start);
    }
    bool any_refused = false;
    os::LockGuard guard(mutex_);
    for (unsigned i = 0; i < count; ++i) {
      taken_out_pages_ -= ranges[i].pages;
      mark_free_locked(ranges[i].start, ranges[i].pages, PageState::kClean);
      any_refused |= was_refused[i];
      const std::size_t range_bytes = bytes_of(ranges[i].dirty());
      unsigned page = 0;
      Chunk& chunk = *chunk_of_locked(ranges[i].start, &page);
      if (was_refused[i]) {
        // The system kept the memory, for example because it is locked.
        chunk.dirty_mask |= ranges[i].dirty_mask;
        relist_locked(chunk);
        dirty_bytes_ += range_bytes;
        continue;
      }
      if (ranges[i].pages == PageCount{kPagesPerChunk}) chunk.is_left_out_of_dumps = true;
      purged += range_bytes;
      memory_limit.credit(range_bytes);
      stats_.purged_bytes += range_bytes;
      ++stats_.purge_calls;
    }
    if (any_refused) break;
  }
  return purged;
}

std::size_t PageCache::purge_unkept(std::size_t bytes) {
  std::size_t unkept = 0;
  {
    os::LockGuard guard(mutex_);
    unkept = policy_.unkept(dirty_bytes_);
  }
  return purge(bytes < unkept ? bytes : unkept);
}

bool PageCache::give_back_lasting_excess(std::size_t most) {
  std::size_t excess = 0;
  {
    os::LockGuard guard(mutex_);
    excess = policy_.lasting_excess(dirty_bytes_);
  }
  if (excess == 0) return true;
  const std::size_t purged = purge(excess < most ? excess : most);
  os::LockGuard guard(mutex_);
  policy_.note_given_back(purged);
  return purged != 0;
}

void PageCache::give_back_at_once(std::size_t most) {
  std::size_t excess = 0;
  {
    os::LockGuard guard(mutex_);
    excess = policy_.excess_at_once(dirty_bytes_);
  }
  if (excess == 0) return;
  const std::size_t purged = purge(excess < most ? excess : most);
  os::LockGuard guard(mutex_);
  policy_.note_given_back_at_once(purged);
}

std::size_t PageCache::unused_since_tick() {
  os::LockGuard guard(mutex_);
  return policy_.tick(dirty_bytes_);
}

}  // namespace tarn::internal
