// Walks the invariants of this tier, as the headers state them: a broken one stops the process with a line
// that names it. For tests, at every step that allows it.
// Threads: any; each function takes the lock of its object, except PageMap's, which states its own \pre.
#include "base/bits.h"
#include "os/fatal.h"
#include "page/give_back/page_cache.h"
#include "page/memory/memory_limit.h"
#include "page/memory/metadata.h"
#include "page/spans/chunk.h"
#include "page/spans/page_map.h"

namespace tarn::internal {

void Chunk::validate() const {
  TARN_CHECK((dirty_mask & ~free_mask) == 0);
  TARN_CHECK(free_run == longest_run(free_mask));
  TARN_CHECK(dirty_run == longest_run(dirty_mask));
}

// \returns how many chunks are listed.
std::size_t ChunkLists::validate(const Lists& lists, std::uint64_t filled, Density density,
                                 std::uint8_t Chunk::*run, ChunkLink Chunk::*link) {
  std::size_t count = 0;
  TARN_CHECK(lists[0].is_empty());
  for (unsigned length = 0; length < kListCount; ++length) {
    const ChunkLink* last = nullptr;
    for (const ChunkLink* at = lists[length].first(); at != nullptr; last = at, at = at->next, ++count) {
      TARN_CHECK(at == &(at->chunk->*link) && at->previous == last);
      TARN_CHECK(at->chunk->*run == length && at->chunk->density == density);
    }
    TARN_CHECK(lists[length].last() == last);
    TARN_CHECK(((filled >> length) & 1) == (last != nullptr ? 1u : 0u));
  }
  return count;
}

void ChunkLists::validate(Density density, std::size_t with_free, std::size_t with_dirty) const {
  TARN_CHECK(validate(by_free_, free_lists_, density, &Chunk::free_run, &Chunk::by_free) == with_free);
  TARN_CHECK(validate(by_dirty_, dirty_lists_, density, &Chunk::dirty_run, &Chunk::by_dirty) == with_dirty);
}

void GiveBackPolicy::validate(std::size_t dirty) const {
  TARN_CHECK(limit() >= lowest_limit());
  TARN_CHECK(lowest_dirty_ <= dirty && lowest_excess_ <= dirty);
}

void PageCache::validate() {
  struct Sums {
    std::size_t free_pages, dirty_pages, with_free, with_dirty;
  } sums[kDensityCount] = {}, all = {};
  std::size_t committed = 0;
  os::LockGuard guard(mutex_);
  for (std::uint32_t r = 0; r < page_map.region_count(); ++r) {
    const Region& region = page_map.region(r);
    TARN_CHECK(region.committed_chunks <= region.chunk_count);
    committed += region.committed_chunks * kChunkBytes;
    for (std::uint32_t i = 0; i < region.committed_chunks; ++i) {
      const Chunk& chunk = region.chunks[i];
      chunk.validate();
      TARN_CHECK(chunk.start == region.start + i * kChunkBytes);
      TARN_CHECK(region.free_chunks.is_free(i) == (chunk.free_run == kPagesPerChunk));
      Sums& sum = sums[static_cast<unsigned>(chunk.density)];
      sum.free_pages += count_ones(chunk.free_mask);
      sum.dirty_pages += count_ones(chunk.dirty_mask);
      sum.with_free += chunk.free_mask != 0;
      sum.with_dirty += chunk.dirty_mask != 0;
    }
  }
  for (const Density density : kDensities) {
    const Sums& sum = sums[static_cast<unsigned>(density)];
    lists_[static_cast<unsigned>(density)].validate(density, sum.with_free, sum.with_dirty);
    all.free_pages += sum.free_pages;
    all.dirty_pages += sum.dirty_pages;
  }
  TARN_CHECK(committed_bytes_ == committed);
  TARN_CHECK(dirty_bytes_ == all.dirty_pages * kPageBytes);
  TARN_CHECK(stats_.used_bytes + all.free_pages * kPageBytes + bytes_of(taken_out_pages_) == committed);
  // Pages that are being purged stay charged; other threads may take records meanwhile.
  const std::size_t pages = stats_.used_bytes + dirty_bytes_, records_before = metadata.cut_bytes();
  const std::size_t held = memory_limit.held();
  TARN_CHECK(pages + records_before <= held);
  TARN_CHECK(held <= pages + bytes_of(taken_out_pages_) + metadata.cut_bytes());
  TARN_CHECK(stats_.used_bytes <= stats_.peak_used_bytes && committed <= stats_.reserved_bytes);
  policy_.validate(dirty_bytes_);
}

void PageMap::validate() {
  for (std::uint32_t r = 0; r < region_count(); ++r) {
    const Region& region = regions_[r];
    const std::size_t pages = std::size_t{region.committed_chunks} * kPagesPerChunk;
    const std::uint16_t* const records =
        writable_index_ == nullptr ? nullptr : writable_index_ + (address_of(region.start) >> kPageShift);
    const Span* span = nullptr;
    std::size_t end = 0;  // of the pages of `span`
    for (std::size_t page = 0; page < pages; ++page) {
      const auto* const found = static_cast<const Span*>(region.spans[page].load(std::memory_order_acquire));
      if (page == end) {
        span = found;
        end = page + (span == nullptr ? 1 : number_of(span->pages));
        TARN_CHECK(end <= pages);
        TARN_CHECK(span == nullptr || span->first_page() == region.start + page * kPageBytes);
        TARN_CHECK(span == nullptr || span->kind != SpanKind::kFree);
      }
      TARN_CHECK(found == span);
      const std::uint32_t free_mask = region.chunks[page / kPagesPerChunk].free_mask;
      TARN_CHECK(span == nullptr || (free_mask & run_mask(page % kPagesPerChunk, 1)) == 0);
      TARN_CHECK(span != nullptr || records == nullptr || records[page] == 0);
    }
  }
}

void Metadata::validate() {
  os::LockGuard guard(mutex_);
  TARN_CHECK(next_ <= end_ && reserve_next_ <= reserve_end_);
  std::size_t free_bytes = 0;
  TARN_CHECK(free_[0] == nullptr);
  for (std::size_t lines = 0; lines <= kLargestReused / kCacheLineBytes; ++lines)
    for (const FreeRecord* record = free_[lines]; record != nullptr; record = record->next) {
      TARN_CHECK(address_of(record) % kCacheLineBytes == 0);
      free_bytes += lines * kCacheLineBytes;
      TARN_CHECK(free_bytes <= cut_bytes_);  // a record that is listed twice makes the list a circle
    }
  TARN_CHECK(used_bytes_ + free_bytes == cut_bytes_ + elsewhere_bytes_);
  std::size_t range_bytes = 0;
  for (std::uint32_t i = 0; i < range_count(); ++i) {
    TARN_CHECK(ranges_[i].start < ranges_[i].end);
    range_bytes += static_cast<std::size_t>(ranges_[i].end - ranges_[i].start);
  }
  TARN_CHECK(lost_ranges_ != 0 || cut_bytes_ <= range_bytes);
}

}  // namespace tarn::internal
