#include "page/give_back/page_cache.h"

#include <bit>

#include "base/bits.h"
#include "os/fatal.h"
#include "os/memory/growth_watch.h"
#include "os/memory/memory.h"
#include "os/process/process.h"
#include "page/memory/memory_limit.h"

namespace tarn::internal {
namespace {

// Long runs are few; a heap with more of them is a heap of free memory.
constexpr unsigned kMostComparedRuns = 32;

unsigned pages_at_front(const Chunk& chunk) {
  return static_cast<unsigned>(std::countr_one(chunk.free_mask));
}
unsigned pages_at_end(const Chunk& chunk) { return static_cast<unsigned>(std::countl_one(chunk.free_mask)); }

/// \returns how many of `pages` pages, which begin at page `first` of a chunk, lie in that chunk.
PageCount part_in_chunk(unsigned first, PageCount pages) {
  const PageCount behind{kPagesPerChunk - first};
  return pages < behind ? pages : behind;
}

/// \returns the first page of the shortest run of `mask` that has at least `pages` pages.
unsigned best_run(std::uint32_t mask, PageCount pages) {
  unsigned best_first = 0, best_count = kPagesPerChunk + 1;
  for (Run run = next_run(mask, 0); run.count != 0; run = next_run(mask, run.first + run.count))
    if (run.count >= number_of(pages) && run.count < best_count)
      best_first = run.first, best_count = run.count;
  return best_first;
}

/// Whether spans of one density may lie in a part of a chunk of the other.
bool may_share_chunk(Density one, Density other) { return is_undumped(one) == is_undumped(other); }

}  // namespace

constinit PageCache page_cache;

void advise_density(char* start, std::size_t bytes, Density density) {
  density == Density::kDense ? os::advise_huge(start, bytes) : os::advise_small(start, bytes);
  if (is_undumped(density)) os::leave_out_of_dumps(start, bytes);
}

void PageCache::configure(const PageCacheLimits& limits) {
  os::LockGuard guard(mutex_);
  constexpr unsigned kBits = 3;
  first_page_ = os::is_placed_at_random() ? static_cast<unsigned>(os::process_secret(1) >> (64 - kBits)) : 0;
  huge_page_threshold_ = limits.huge_page_threshold;
  reserve_bytes_ = limits.reserve_bytes;
  all_huge_pages_ = limits.all_huge_pages;
  policy_.set_threshold(limits.free_page_threshold, limits.adapts);
}

Region* PageCache::region_of_locked(const char* address) {
  const std::uint32_t count = page_map.region_count();
  for (std::uint32_t i = 0; i < count; ++i) {
    Region& region = page_map.region(i);
    if (address_of(address) - address_of(region.start) < region.bytes) return &region;
  }
  return nullptr;
}

Chunk* PageCache::chunk_of_locked(const char* address, unsigned* page) {
  Region* const region = region_of_locked(address);
  if (region == nullptr) return nullptr;
  const std::size_t offset = address_of(address) - address_of(region->start);
  *page = static_cast<unsigned>(offset >> kPageShift) % kPagesPerChunk;
  const std::size_t index = offset >> kChunkShift;
  return index < region->committed_chunks ? &region->chunks[index] : nullptr;
}

void PageCache::relist_locked(Chunk& chunk) {
  const bool was_free = chunk.free_run == kPagesPerChunk;
  lists_[static_cast<unsigned>(chunk.density)].relist(chunk);
  const bool is_free = chunk.free_run == kPagesPerChunk;
  if (was_free == is_free) return;
  Region& region = *region_of_locked(chunk.start);
  region.free_chunks.assign(static_cast<std::uint32_t>(&chunk - region.chunks), is_free);
}

void PageCache::note_use_locked(PageCount pages, PageCount clean_pages) {
  const std::size_t dirty = bytes_of(pages - clean_pages);
  dirty_bytes_ -= dirty;
  policy_.note_low(dirty_bytes_);
  policy_.note_clean_use(bytes_of(clean_pages), dirty_bytes_);
  stats_.used_bytes += bytes_of(pages);
  if (stats_.used_bytes > stats_.peak_used_bytes) stats_.peak_used_bytes = stats_.used_bytes;
}

// \pre the chunk is wholly free.
void PageCache::change_density_locked(Chunk& chunk, Density density) {
  TARN_ASSERT(chunk.free_run == kPagesPerChunk);
  const std::uint32_t dirty_mask = chunk.dirty_mask;
  chunk.free_mask = chunk.dirty_mask = 0;
  relist_locked(chunk);
  chunk.density = density;
  chunk.free_mask = ~0u;
  chunk.dirty_mask = dirty_mask;
  relist_locked(chunk);
}

PageRun PageCache::take_run_locked(Chunk& chunk, unsigned first, PageCount pages, Density density) {
  const std::uint32_t mask = run_mask(first, number_of(pages));
  TARN_ASSERT((chunk.free_mask & mask) == mask);
  const Density before = chunk.density;
  if (!may_share_chunk(before, density)) change_density_locked(chunk, density);
  const auto dirty = PageCount{count_ones(chunk.dirty_mask & mask)};
  if (dirty != pages) os::tell_growth("pages without memory taken");
  chunk.free_mask &= ~mask;
  chunk.dirty_mask &= ~mask;
  relist_locked(chunk);
  // Pages without memory read as zeros. The system is told of a changed density by the caller, once it has
  // let the mutex go.
  PageRun run{.start = chunk.page(first), .is_zeroed = dirty == PageCount{0}, .density = density};
  const ChunkRange range{chunk.start, chunk.start + kChunkBytes};
  const bool is_left_out = chunk.is_left_out_of_dumps || is_undumped(before);
  if (is_left_out && !is_undumped(density)) run.left_out = range;
  chunk.is_left_out_of_dumps = false;
  const bool may_change = run.is_zeroed && pages == PageCount{kPagesPerChunk};
  if (before != density && (may_change || !may_share_chunk(before, density))) run.advised = range;
  return run;
}

// \pre no list has the chunks.
void PageCache::set_density_locked(const ChunkRange& range, Density density) {
  for (char* start = range.start; start != range.end; start += kChunkBytes) {
    unsigned page = 0;
    chunk_of_locked(start, &page)->density = density;
  }
}

void PageCache::set_density(char* start, PageCount pages, Density density) {
  if (density == Density::kSparse) return;
  PageRun run{.start = start, .density = Density::kDense};
  run.advised = {start, start + bytes_of(pages) / kChunkBytes * kChunkBytes};
  {
    os::LockGuard guard(mutex_);
    set_density_locked(run.advised, run.density);
  }
  run.tell_system();
}

void PageRun::tell_system() const {
  if (left_out.start != nullptr)
    os::include_in_dumps(left_out.start, static_cast<std::size_t>(left_out.end - left_out.start));
  if (advised.start == nullptr) return;
  advise_density(advised.start, static_cast<std::size_t>(advised.end - advised.start), density);
}

// Warm pages first, of the wished density before the other; then free ones. Sparse spans take cold pages of
// dense chunks only when nothing else is left, because each costs a huge page.
Chunk* PageCache::choose_chunk_locked(PageCount pages, Density density, bool may_mix, bool* is_dirty) {
  const unsigned index = static_cast<unsigned>(density);
  const ChunkLists& wished = lists_[index];
  const ChunkLists& other = is_undumped(density) ? wished : lists_[1 - index];
  *is_dirty = true;
  if (Chunk* const chunk = wished.find_dirty(pages)) return chunk;
  if (Chunk* const chunk = other.find_dirty(pages)) return chunk;
  *is_dirty = false;
  if (Chunk* const chunk = wished.find_free(pages)) return chunk;
  return may_mix ? other.find_free(pages) : nullptr;
}

// The pages before the one that was drawn are taken last.
std::uint32_t PageCache::without_first_pages(const Chunk& chunk, std::uint32_t mask, PageCount wanted) const {
  if (first_page_ == 0 || &chunk != page_map.region(0).chunks) return mask;
  const std::uint32_t behind = mask & ~run_mask(0, first_page_);
  return longest_run(behind) >= number_of(wanted) ? behind : mask;
}

// \returns the free chunk with the most free chunks in a row behind it, of those that have memory or else of
// those of the density; nullptr: none of the first ones that were looked at.
Chunk* PageCache::roomiest_chunk_locked(Density density, bool has_memory) {
  Chunk* roomiest = nullptr;
  unsigned most = 0, compared = 0;
  for (std::uint32_t r = 0; r < page_map.region_count(); ++r) {
    const Region& region = page_map.region(r);
    ChunkRun run = region.free_chunks.next_run(0);
    while (run.count != 0 && compared++ < kMostComparedRuns) {
      Chunk& chunk = region.chunks[run.first];
      const std::uint32_t end = run.first + run.count;
      const bool is_one = has_memory
                              ? chunk.dirty_run == kPagesPerChunk && may_share_chunk(chunk.density, density)
                              : chunk.density == density;
      if (is_one && run.count > most) {
        roomiest = &chunk;
        most = run.count;
      }
      run = is_one || run.count == 1 ? region.free_chunks.next_run(end)
                                     : ChunkRun{run.first + 1, run.count - 1};
    }
  }
  return roomiest;
}

PageRun PageCache::take_from_chunks_locked(const Request& request, bool may_mix) {
  bool is_dirty = false;
  Chunk* chunk = choose_chunk_locked(request.wanted(), request.density, may_mix, &is_dirty);
  if (chunk == nullptr) return {};
  // What is to grow begins a run of free chunks, rather than to fit between others, if that has memory too.
  if (request.room != PageCount{0}) {
    if (Chunk* const roomiest = roomiest_chunk_locked(request.density, is_dirty); roomiest != nullptr)
      chunk = roomiest;
  }
  const std::uint32_t mask = is_dirty ? chunk->dirty_mask : chunk->free_mask;
  const unsigned first = best_run(without_first_pages(*chunk, mask, request.wanted()), request.wanted());
  return take_aligned_from_locked(chunk, first, request);
}

// For more than a chunk: whole free chunks in a row, the first pages of the chunk behind them, and the last
// ones of the chunk before them; these not for what is to grow, since only whole chunks can be moved, nor for
// what is to fill huge pages. Of the runs that are long enough, the one of which least is left.
PageRun PageCache::take_chunks_locked(const Request& request) {
  const unsigned wanted = number_of(request.wanted());
  unsigned least_left = ~0u, missing = 0, compared = 0;
  const auto may_take_part_of = [&](const Chunk& chunk) {
    return may_share_chunk(chunk.density, request.density);
  };
  Chunk* best = nullptr;
  for (std::uint32_t r = 0; r < page_map.region_count() && least_left != 0 && compared < kMostComparedRuns;
       ++r) {
    const Region& region = page_map.region(r);
    ChunkRun run = region.free_chunks.next_run(0);
    for (; run.count != 0; run = region.free_chunks.next_run(run.first + run.count)) {
      const unsigned whole = run.count * kPagesPerChunk;
      if (whole + 2 * (kPagesPerChunk - 1) < wanted) continue;
      const std::uint32_t behind = run.first + run.count;  // maybe not committed: then it has no free pages
      const Chunk& next = region.chunks[behind];
      const unsigned found = whole + (may_take_part_of(next) ? pages_at_front(next) : 0);
      const bool may_begin_before = request.density != Density::kDense && request.room == PageCount{0} &&
                                    run.first != 0 && may_take_part_of(region.chunks[run.first - 1]);
      const unsigned all = found + (may_begin_before ? pages_at_end(region.chunks[run.first - 1]) : 0);
      if (all < wanted) continue;
      if (all - wanted < least_left) {
        best = &region.chunks[run.first];
        least_left = all - wanted;
        missing = found < wanted ? wanted - found : 0;
      }
      if (least_left == 0 || ++compared == kMostComparedRuns) break;
    }
  }
  if (best == nullptr) return {};
  return missing == 0 ? take_aligned_from_locked(best, 0, request)
                      : take_aligned_from_locked(best - 1, kPagesPerChunk - missing, request);
}

// \pre the run from page `first` of the chunk on has the slack too.
PageRun PageCache::take_aligned_from_locked(Chunk* chunk, unsigned first, const Request& request) {
  const std::uintptr_t start = address_of(chunk->page(first));
  first += static_cast<unsigned>((round_up(start, request.alignment) - start) >> kPageShift);
  return take_pages_from_locked(chunk + first / kPagesPerChunk, first % kPagesPerChunk, request.pages,
                                request.density);
}

// Of a run that continues through the chunks behind the first.
PageCount PageCache::clean_pages_locked(const Chunk* chunk, unsigned first, PageCount pages) {
  PageCount clean{0};
  for (; pages != PageCount{0}; ++chunk, first = 0) {
    const PageCount part = part_in_chunk(first, pages);
    clean += PageCount{count_ones(run_mask(first, number_of(part)) & ~chunk->dirty_mask)};
    pages -= part;
  }
  return clean;
}

// Takes a run that starts at a page of a chunk and continues through the chunks behind it.
PageRun PageCache::take_pages_from_locked(Chunk* chunk, unsigned first, PageCount pages, Density density) {
  const PageCount clean_pages = clean_pages_locked(chunk, first, pages);
  if (!memory_limit.charge_pages(bytes_of(clean_pages), bytes_of(pages))) return {.is_beyond_limit = true};
  PageRun run{.start = chunk->page(first), .is_zeroed = true, .density = density};
  PageCount left = pages;
  for (; left != PageCount{0}; ++chunk, first = 0) {
    const PageCount part = part_in_chunk(first, left);
    const PageRun taken = take_run_locked(*chunk, first, part, density);
    run.is_zeroed &= taken.is_zeroed;
    run.left_out.extend(taken.left_out);
    run.advised.extend(taken.advised);
    left -= part;
  }
  set_density_locked(run.advised, density);
  note_use_locked(pages, clean_pages);
  return run;
}

PageRun PageCache::allocate_pages(PageCount pages, Density density, std::size_t alignment, PageCount room) {
  if (!memory_limit.may_fit(bytes_of(pages), dirty_bytes())) return {.is_beyond_limit = true};
  if (all_huge_pages_ && !is_undumped(density)) density = Density::kDense;
  const Request request{pages, pages_for(alignment) - PageCount{1}, room, alignment, density};
  const PageCount wanted = request.wanted();
  auto take = [&](bool may_mix) {
    os::LockGuard guard(mutex_);
    ++stats_.page_cache_locks;
    return wanted <= PageCount{kPagesPerChunk} ? take_from_chunks_locked(request, may_mix)
                                               : take_chunks_locked(request);
  };
  const auto is_answer = [](const PageRun& run) { return run.start != nullptr || run.is_beyond_limit; };
  PageRun run = take(false);
  if (!is_answer(run)) {
    os::LockGuard growth(growth_mutex_);
    run = take(false);
    // Other threads allocate without the growth lock and may take the new chunks; then more are needed.
    while (!is_answer(run)) {
      const bool has_grown = grow(wanted, density);
      run = take(!has_grown);
      if (!has_grown) break;
    }
    if (!is_answer(run) && !is_undumped(density) && grow_last_area(wanted)) run = take(true);
  }
  if (!is_answer(run)) MemoryLimit::note_refused_by_system(bytes_of(pages));
  run.tell_system();
  return run;
}

bool PageCache::try_extend(char* end, PageCount pages, bool* is_zeroed) {
  PageRun run{};
  {
    os::LockGuard guard(mutex_);
    ++stats_.page_cache_locks;
    run = extension_locked(end, pages);
  }
  if (run.start == nullptr) return false;
  run.tell_system();
  *is_zeroed = run.is_zeroed;
  return true;
}

// \returns the pages from `end` on; none when they are in use.
PageRun PageCache::extension_locked(char* end, PageCount pages) {
  unsigned first = 0;
  Chunk* const chunk = chunk_of_locked(end, &first);
  unsigned last_page = 0;
  const Chunk* const last = chunk_of_locked(end - 1, &last_page);
  // Regions may lie side by side; a span must not cross from one into the next.
  if (chunk == nullptr || last + (first == 0 ? 1 : 0) != chunk) return {};
  unsigned page = first;
  const Chunk* at = chunk;
  for (PageCount left = pages; left != PageCount{0}; ++at, page = 0) {
    const PageCount part = part_in_chunk(page, left);
    const std::uint32_t mask = run_mask(page, number_of(part));
    // An uncommitted chunk has no free pages, and the zeroed end of the table follows the last chunk of a
    // region: so this test also ends the walk.
    const bool is_in_region = at->start == chunk->start + ((at - chunk) << kChunkShift);
    const bool is_free = (at->free_mask & mask) == mask;
    if (!is_in_region || !is_free || !may_share_chunk(at->density, last->density)) return {};
    left -= part;
  }
  return take_pages_from_locked(chunk, first, pages, last->density);
}

void PageCache::mark_free_locked(char* start, PageCount pages, PageState state) {
  while (pages != PageCount{0}) {
    unsigned page = 0;
    Chunk& chunk = *chunk_of_locked(start, &page);
    const PageCount part = part_in_chunk(page, pages);
    const std::uint32_t mask = run_mask(page, number_of(part));
    TARN_ASSERT((chunk.free_mask & mask) == 0);
    chunk.free_mask |= mask;
    if (state == PageState::kDirty) chunk.dirty_mask |= mask;
    relist_locked(chunk);
    start += bytes_of(part);
    pages -= part;
  }
}

void PageCache::free_pages(char* start, PageCount pages, PageState state) {
  os::LockGuard guard(mutex_);
  ++stats_.page_cache_locks;
  mark_free_locked(start, pages, state);
  stats_.used_bytes -= bytes_of(pages);
  if (state == PageState::kDirty) {
    dirty_bytes_ += bytes_of(pages);
  } else {
    memory_limit.credit(bytes_of(pages));
  }
  memory_limit.note_freed();
}

PageCacheStats PageCache::stats() {
  os::LockGuard guard(mutex_);
  PageCacheStats stats = stats_;
  stats.committed_bytes = committed_bytes_;
  stats.dirty_bytes = dirty_bytes_;
  stats.clean_bytes = stats.committed_bytes - stats.used_bytes - stats.dirty_bytes;
  return stats;
}

}  // namespace tarn::internal
