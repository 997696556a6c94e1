#include <new>

#include "os/memory/memory.h"
#include "os/process/process.h"
#include "page/give_back/page_cache.h"
#include "page/memory/metadata.h"
#include "page/spans/live_map.h"

namespace tarn::internal {
namespace {

// A call of the system costs little beside the memory of even a chunk; what is made ahead is in core files.
constexpr std::uint32_t kLargestGrowthChunks = 4;

// So many bytes of pages need one of records, where blocks are small.
constexpr std::size_t kPageBytesPerRecordByte = 64;

}  // namespace

bool PageCache::commit_chunks(Region& region, std::uint32_t first, std::uint32_t count, Density density) {
  char* const start = region.start + (std::size_t{first} << kChunkShift);
  const std::size_t bytes = std::size_t{count} << kChunkShift;
  // Committing takes no new addresses, so the system does not apply this limit by itself.
  const std::size_t limit = os::address_space_limit();
  if (limit != SIZE_MAX && committed_bytes_ + bytes > limit) return false;
  metadata.prepare((committed_bytes_ + bytes) / kPageBytesPerRecordByte);
  if (!page_map.commit_tables(region, count) || !os::commit(start, bytes)) return false;
  if (is_undumped(density)) {
    os::leave_out_of_dumps(start, bytes);
  } else if (region.is_rest_advised) {
    density = region.density_of_rest;
  } else if (density == Density::kDense) {
    os::advise_huge(start, bytes);
  }

  os::LockGuard guard(mutex_);
  for (std::uint32_t i = 0; i < count; ++i) {
    Chunk& chunk = region.chunks[first + i];
    chunk.start = start + (std::size_t{i} << kChunkShift);
    chunk.by_free.chunk = chunk.by_dirty.chunk = &chunk;
    chunk.density = density;
    chunk.free_mask = ~0u;
    relist_locked(chunk);
  }
  region.committed_chunks += count;
  committed_bytes_ += bytes;
  stats_.chunks_committed += count;
  return true;
}

Chunk* PageCache::clean_chunk_of_others_locked(Density density) const {
  for (const Density other : kDensities) {
    if (other == density) continue;
    if (Chunk* const chunk = lists_[static_cast<unsigned>(other)].clean_chunk()) return chunk;
  }
  return nullptr;
}

// To make a wholly purged chunk what a span is costs nothing: it has no pages to copy.
bool PageCache::convert_chunk(Density density) {
  Chunk* chunk = nullptr;
  {
    os::LockGuard guard(mutex_);
    chunk = clean_chunk_of_others_locked(density);
    if (chunk == nullptr) return false;
    chunk->free_mask = 0;
    taken_out_pages_ += PageCount{kPagesPerChunk};
    relist_locked(*chunk);
  }
  advise_density(chunk->start, kChunkBytes, density);
  os::LockGuard guard(mutex_);
  chunk->is_left_out_of_dumps |= is_undumped(chunk->density);
  chunk->density = density;
  chunk->free_mask = ~0u;
  taken_out_pages_ -= PageCount{kPagesPerChunk};
  relist_locked(*chunk);
  return true;
}

// Makes new chunks until a run of `pages` exists. Only the holder of the growth lock changes
// committed_chunks, so the system can be called without the page cache's lock.
bool PageCache::grow(PageCount pages, Density density) {
  if (pages <= PageCount{kPagesPerChunk} && convert_chunk(density)) return true;
  const std::uint32_t needed = (number_of(pages) + kPagesPerChunk - 1) / kPagesPerChunk;
  const std::uint32_t region_count = page_map.region_count();
  Region* region = region_count == 0 ? nullptr : &page_map.region(region_count - 1);
  if (region == nullptr || region->chunk_count - region->committed_chunks < needed) {
    os::LockGuard guard(mutex_);
    // As large as all regions together: each free walks the regions, so few must be enough for any heap.
    region =
        page_map.add_region(std::size_t{needed} << kChunkShift,
                            stats_.reserved_bytes > reserve_bytes_ ? stats_.reserved_bytes : reserve_bytes_);
    if (region == nullptr) return false;
    stats_.reserved_bytes += region->bytes;
  }
  const std::uint32_t left = region->chunk_count - region->committed_chunks;
  std::uint32_t wished = static_cast<std::uint32_t>(committed_bytes_ >> kChunkShift) / 8;
  if (wished > kLargestGrowthChunks) wished = kLargestGrowthChunks;
  if (wished < needed) wished = needed;
  if (wished > left) wished = left;
  const std::uint32_t first = region->committed_chunks;
  return commit_chunks(*region, first, wished, density) ||
         (wished != needed && commit_chunks(*region, first, needed, density));
}

// Where the kernel's map of the process is full, it refuses areas, but one may grow by addresses of its kind:
// so those behind the last chunk become of its kind. They stay so; hence only where all else was refused.
bool PageCache::grow_last_area(PageCount pages) {
  const std::uint32_t region_count = page_map.region_count();
  if (region_count == 0 || os::address_space_limit() != SIZE_MAX) return false;
  Region& region = page_map.region(region_count - 1);
  const std::uint32_t first = region.committed_chunks;
  const std::uint32_t needed = (number_of(pages) + kPagesPerChunk - 1) / kPagesPerChunk;
  if (first == 0 || region.chunk_count - first < needed) return false;
  {
    os::LockGuard guard(mutex_);
    const Density last = region.chunks[first - 1].density;
    region.density_of_rest = is_undumped(last) ? Density::kSparse : last;
    region.is_rest_advised = true;
  }
  char* const rest = region.start + (std::size_t{first} << kChunkShift);
  region.density_of_rest == Density::kDense ? os::advise_huge_to_end(rest) : os::advise_small_to_end(rest);
  return commit_chunks(region, first, needed, region.density_of_rest);
}

void PageCache::back_with_memory(char* start, std::size_t bytes, Density density) {
  const std::uint64_t before = os::clock_ns();
  if (!os::populate(start, bytes) || all_huge_pages_) return;
  const std::uint64_t ns = os::clock_ns() - before;
  density == Density::kDense ? huge_page_price_.note_huge(ns, committed_bytes())
                             : huge_page_price_.note_small(bytes, ns);
}

std::size_t PageCache::prewarm(std::size_t bytes) {
  // All runs are taken before the first is freed, else each would be the same run. A run's first bytes hold
  // the link.
  struct Link {
    Link* next;
  };
  Link* runs = nullptr;
  std::size_t made = 0;
  for (; made < bytes; made += kChunkBytes) {
    char* const start = allocate_pages(PageCount{kPagesPerChunk}).start;
    if (start == nullptr) break;
    os::populate(start, kChunkBytes);
    live_map.prewarm(start, kChunkBytes);
    runs = new (start) Link{runs};
  }
  keep(made);  // before they are free, and others may give them back
  while (runs != nullptr) {
    Link* const next = runs->next;
    runs->next = nullptr;  // free pages of the hardened library are zeros
    free_pages(reinterpret_cast<char*>(runs), PageCount{kPagesPerChunk}, PageState::kDirty);
    runs = next;
  }
  return made;
}

void PageCache::keep(std::size_t bytes) {
  os::LockGuard guard(mutex_);
  policy_.keep(bytes);
}

void PageCache::keep_nothing() {
  os::LockGuard guard(mutex_);
  policy_.keep_nothing();
}

std::size_t PageCache::release_tails_locked() {
  std::size_t bytes = 0;
  for (std::uint32_t i = 0; i < page_map.region_count(); ++i)
    bytes += page_map.release_tail(page_map.region(i));
  stats_.reserved_bytes -= bytes;
  return bytes;
}

}  // namespace tarn::internal
