#include "page/page_map.h"

#include "os/memory.h"
#include "page/chunk.h"

namespace tarn::internal {
namespace {

#if defined(__x86_64__)
constexpr unsigned kAddressBits = 47;
#else
constexpr unsigned kAddressBits = 48;
#endif
constexpr std::size_t kIndexEntries = std::size_t{1} << (kAddressBits - kPageShift);

// Under a limit of the address space regions are kept small, and the index is not tried.
constexpr std::size_t kLimitedShare = 16;

}  // namespace

constinit PageMap page_map;

void PageMap::reserve_index() {
  if (os::address_space_limit() != SIZE_MAX) return;
  writable_index_ = static_cast<std::uint16_t*>(os::reserve_readable(kIndexEntries * sizeof(std::uint16_t)));
}

detail::PageIndex PageMap::index() const {
  static constexpr std::uint16_t kNoRecord = 0;
  if (writable_index_ == nullptr) return {&kNoRecord, 0};
  return {writable_index_, kIndexEntries - 1};
}

bool PageMap::commit_index(const Region& region) {
  if (writable_index_ == nullptr) return true;
  const std::uintptr_t first = address_of(writable_index_ + (address_of(region.start) >> kPageShift));
  const std::uintptr_t last = address_of(writable_index_ + (address_of(region.start + region.bytes) >> kPageShift));
  const std::uintptr_t start = first & ~(kOsPageBytesLargest - 1);
  return os::commit(reinterpret_cast<void*>(start), round_up(last, kOsPageBytesLargest) - start);
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
    region.start = static_cast<char*>(os::reserve(wished_bytes, kChunkBytes));
    if (region.start != nullptr) break;
    if (wished_bytes == least_bytes) return nullptr;
  }
  region.bytes = wished_bytes;
  region.chunk_count = static_cast<std::uint32_t>(wished_bytes >> kChunkShift);
  region.committed_chunks = 0;

  const std::size_t span_bytes = (region.bytes >> kPageShift) * sizeof(std::atomic<detail::SpanHead*>);
  const std::size_t chunk_bytes = (region.chunk_count + 1) * sizeof(Chunk);  // one more ends every walk
  char* const tables = static_cast<char*>(os::map(round_up(span_bytes, kOsPageBytesLargest) + chunk_bytes));
  if (tables == nullptr || !commit_index(region)) {
    os::release(region.start, region.bytes);
    if (tables != nullptr) os::release(tables, round_up(span_bytes, kOsPageBytesLargest) + chunk_bytes);
    return nullptr;
  }
  region.spans = reinterpret_cast<std::atomic<detail::SpanHead*>*>(tables);
  region.chunks = reinterpret_cast<Chunk*>(tables + round_up(span_bytes, kOsPageBytesLargest));
  region_count_.store(count + 1, std::memory_order_release);
  return &region;
}

void PageMap::write(const Span* span, PageCount first, PageCount count, Span* value, std::uint16_t record_offset) {
  const char* const start = span->start + bytes_of(first);
  const std::uint32_t regions = region_count_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < regions; ++i) {
    const std::size_t offset = address_of(start) - address_of(regions_[i].start);
    if (offset >= regions_[i].bytes) continue;
    std::atomic<detail::SpanHead*>* const entries = regions_[i].spans + (offset >> kPageShift);
    for (PageCount page = 0; page < count; ++page) entries[page].store(value, std::memory_order_release);
    break;
  }
  if (writable_index_ == nullptr) return;
  std::uint16_t* const records = writable_index_ + (address_of(start) >> kPageShift);
  for (PageCount page = 0; page < count; ++page) __atomic_store_n(records + page, record_offset, __ATOMIC_RELAXED);
}

}  // namespace tarn::internal
