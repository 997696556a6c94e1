#include "page/spans/page_map.h"

#include "os/checker.h"
#include "os/memory/memory.h"
#include "page/spans/chunk.h"
#include "page/spans/live_map.h"

namespace tarn::internal {
namespace {

#if defined(__x86_64__)
constexpr unsigned kAddressBits = 47;
#else
constexpr unsigned kAddressBits = 48;
#endif
constexpr std::size_t kIndexEntries = std::size_t{1} << (kAddressBits - kPageShift);
constexpr std::size_t kIndexBytes = kIndexEntries * sizeof(std::uint16_t);

// No region, and not the index either, reserves more than this share of a limited address space.
constexpr std::size_t kLimitedShare = 16;

/// Entries of a table for some chunks, as bytes from the table's start.
struct Entries {
  std::size_t first, end;
  bool has_predecessor;  // the entries before them, at least those in the same piece, are writable
};

/// Makes entries of a readable reserve writable, in whole pieces.
bool commit_entries(void* table, const Entries& entries) {
  constexpr std::size_t kPieceBytes = kOsPageBytesLargest;
  const std::size_t piece = entries.first & ~(kPieceBytes - 1);
  const std::size_t first = entries.has_predecessor ? round_up(entries.first, kPieceBytes) : piece;
  const std::size_t end = round_up(entries.end, kPieceBytes);
  if (first >= end) return true;
  char* const start = static_cast<char*>(table) + first;
  if (!os::commit(start, end - first)) return false;
  os::note_ordered_by_atomics(start, end - first);
  return true;
}

}  // namespace

constinit PageMap page_map;

void PageMap::reserve_index() {
  if (kIndexBytes > os::address_space_limit() / kLimitedShare) return;
  writable_index_ = static_cast<std::uint16_t*>(os::reserve_readable(kIndexBytes));
}

std::size_t PageMap::index_bytes() const { return writable_index_ == nullptr ? 0 : kIndexBytes; }

std::size_t PageMap::drop_index() {
  const std::size_t bytes = index_bytes();
  if (bytes != 0) os::release(writable_index_, bytes);
  writable_index_ = nullptr;
  return bytes;
}

std::size_t PageMap::release_tail(Region& region) {
  char* const tail = region.start + (std::size_t{region.committed_chunks} << kChunkShift);
  const std::size_t bytes = os::release_tail(tail);
  if (bytes == 0) return 0;
  region.bytes.store(static_cast<std::size_t>(tail - region.start), std::memory_order_relaxed);
  region.chunk_count = region.committed_chunks;
  return bytes;
}

detail::PageIndex PageMap::index() const {
  if (writable_index_ == nullptr) return {nullptr, 0};
  return {writable_index_, kIndexEntries};
}

Region* PageMap::add_region(std::size_t least_bytes, std::size_t wished_bytes) {
  const std::uint32_t count = region_count_.load(std::memory_order_relaxed);
  if (count == kLargestRegionCount) return nullptr;
  least_bytes = round_up(least_bytes, kChunkBytes);
  const std::size_t limit = os::address_space_limit();
  if (limit != SIZE_MAX) wished_bytes = limit / kLimitedShare;
  wished_bytes = round_up(wished_bytes < least_bytes ? least_bytes : wished_bytes, kChunkBytes);

  Region& region = regions_[count];
  for (region.start = nullptr;; wished_bytes = round_up(wished_bytes / 2, kChunkBytes)) {
    if (wished_bytes < least_bytes) wished_bytes = least_bytes;
    region.start = static_cast<char*>(os::reserve_anywhere(wished_bytes, kChunkBytes));
    if (region.start != nullptr) break;
    if (wished_bytes == least_bytes) return nullptr;
  }
  region.bytes = wished_bytes;
  region.chunk_count = static_cast<std::uint32_t>(wished_bytes >> kChunkShift);
  region.committed_chunks = 0;
  region.is_rest_advised = false;

  const std::size_t span_bytes = (region.bytes >> kPageShift) * sizeof *region.spans;
  const std::size_t bits_bytes = FreeChunks::bytes_for(region.chunk_count);
  const std::size_t chunk_bytes = bits_bytes + (region.chunk_count + 1) * sizeof(Chunk);
  char* const tables = static_cast<char*>(os::reserve_readable(round_up(span_bytes, kOsPageBytesLargest) +
                                                               round_up(chunk_bytes, kOsPageBytesLargest)));
  if (tables == nullptr) {
    os::undo_reserve(region.start, region.bytes);
    return nullptr;
  }
  region.spans = reinterpret_cast<std::atomic<detail::SpanHead*>*>(tables);
  char* const bits = tables + round_up(span_bytes, kOsPageBytesLargest);
  region.free_chunks.use(bits, region.chunk_count);
  region.chunks = reinterpret_cast<Chunk*>(bits + bits_bytes);
  if (count != 0) {
    live_map.end();
  } else if (writable_index_ != nullptr) {
    live_map.begin(region.start, region.bytes);
  }
  region_count_.store(count + 1, std::memory_order_release);
  // Blocks point to blocks of malloc's.
  os::note_roots_of_leaks(region.start, region.bytes);
  return &region;
}

bool PageMap::commit_tables(const Region& region, std::uint32_t count) {
  const std::size_t first = region.committed_chunks, end = first + count;
  auto entries = [&](std::size_t bytes_before, std::size_t bytes_each) {
    return Entries{bytes_before + first * bytes_each, bytes_before + end * bytes_each, first != 0};
  };
  if (!commit_entries(region.spans, entries(0, kPagesPerChunk * sizeof *region.spans))) return false;
  Entries chunks = entries(region.free_chunks.bytes(), sizeof(Chunk));
  if (first == 0) chunks.first = 0;  // the bits before them too
  if (!commit_entries(reinterpret_cast<char*>(region.chunks) - region.free_chunks.bytes(), chunks))
    return false;
  if (writable_index_ == nullptr) return true;
  constexpr std::size_t kEntryBytes = sizeof *writable_index_;
  const std::size_t before = (address_of(region.start) >> kPageShift) * kEntryBytes;
  return commit_entries(writable_index_, entries(before, kPagesPerChunk * kEntryBytes));
}

void PageMap::write_spans(const Span* span, std::uint32_t first, PageCount count, Span* value) {
  const char* const start = span->start + first * kPageBytes;
  const std::uint32_t regions = region_count_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < regions; ++i) {
    const std::size_t offset = address_of(start) - address_of(regions_[i].start);
    if (offset >= regions_[i].bytes) continue;
    std::atomic<detail::SpanHead*>* const entries = regions_[i].spans + (offset >> kPageShift);
    for (std::uint32_t page = 0; page < number_of(count); ++page)
      entries[page].store(value, std::memory_order_release);
    break;
  }
}

void PageMap::set_record(Span* span, detail::RecordPlace record) {
  if (writable_index_ == nullptr) return;
  const auto place = static_cast<std::uint16_t>(record);
  std::uint16_t* const records = writable_index_ + (address_of(span->start) >> kPageShift);
  for (std::uint32_t page = 0; page < number_of(span->pages); ++page)
    __atomic_store_n(records + page, place, __ATOMIC_RELAXED);
}

}  // namespace tarn::internal
