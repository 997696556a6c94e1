#include "observe/live_slabs.h"

#include <cstring>

#include "base/bitmap.h"
#include "central/cached/cached_blocks.h"
#include "central/cached/depot.h"
#include "central/owners.h"
#include "general/hardened/large_guards.h"
#include "general/large.h"
#include "page/give_back/page_cache.h"
#include "page/spans/page_map.h"
#include "thread/magazine.h"
#include "thread/registry.h"

namespace tarn::internal {
namespace {

// What a slab or a large block may need.
constexpr std::uint32_t kMostRunsOfSpan = 512;
// A picture of few blocks looks at no more pages: slow calls of all threads wait meanwhile.
constexpr std::size_t kMostPages = 4096;

const Span* span_at(const Region& region, std::size_t page) {
  return static_cast<const Span*>(region.spans[page].load(std::memory_order_acquire));
}

// \pre no slow call runs, and no pool begins or ends. \returns the pages of the slab.
std::size_t add_slab(const Span& slab, const SlabOwner& owner, LivePicture& picture, PoolNames& names) {
  if (slab.free_count == slab.block_count) return number_of(slab.pages);
  const SizeClass size_class = slab.size_class.load(std::memory_order_relaxed);
  const std::uint16_t name = owner.is_of_pool ? names.add(owner.first_part->pool) : PoolNames::kNone;
  picture.add_blocks(
      {slab.start, 0, geometry_of(owner, size_class).block_bytes, slab.stride, size_class, name},
      slab.block_count, [&](std::uint32_t word) {
        return ~(slab.free_bits[word] | slab.remote_bits[word].load(std::memory_order_relaxed));
      });
  return number_of(slab.pages);
}

// \why no sanitizer: the span's record may serve another span at any moment, and the page lose its span.
// \returns the pages of the large block that begins at a page; 0: none does.
__attribute__((no_sanitize("thread"))) std::size_t large_pages(const Span* span, const Region& region,
                                                               std::size_t page, std::size_t page_count) {
  SpanKind kind{};
  PageCount pages{};
  char* start = nullptr;
  __atomic_load(&span->kind, &kind, __ATOMIC_RELAXED);
  __atomic_load(&span->pages, &pages, __ATOMIC_RELAXED);
  __atomic_load(&span->start, &start, __ATOMIC_RELAXED);
  std::atomic_thread_fence(std::memory_order_acquire);
  const std::size_t count = number_of(pages);
  if (kind != SpanKind::kLarge || start - address_of(start) % kPageBytes != region.start + page * kPageBytes)
    return 0;
  if (count == 0 || count > page_count - page) return 0;
  return span_at(region, page) == span && span_at(region, page + count - 1) == span ? count : 0;
}

std::size_t add_large(const Span* span, const Region& region, std::size_t page, std::size_t page_count,
                      LivePicture& picture) {
  const std::size_t pages = large_pages(span, region, page, page_count);
  if (pages == 0) return 1;
  char* start = region.start + page * kPageBytes;
  std::size_t bytes = pages * kPageBytes;
  if constexpr (detail::kIsHardened) {  // what lies between its guards, once they are there
    char* const end = start + bytes;
    __atomic_load(&span->start, &start, __ATOMIC_RELAXED);
    bytes = usable_bytes_of_large(*span);
    if (bytes == 0 || start > end || bytes > static_cast<std::size_t>(end - start)) return pages;
  }
  picture.add({start, 1, bytes, kPageBytes, SizeClass::kNone});
  return pages;
}

// \returns how many pages to go on by.
std::size_t add_span_at(const Region& region, const LivePlace& place, std::size_t page_count,
                        LivePicture& picture, PoolNames& names) {
  const std::size_t page = place.page;
  const Span* const span = span_at(region, page);
  if (span == nullptr) return 1;
  // A spare slab has no owner; nor has a slab that has ended.
  const SlabOwner* const owner = span->owner.load(std::memory_order_acquire);
  if (owner == nullptr && place.only != nullptr) return 1;
  if (owner == nullptr) return add_large(span, region, page, page_count, picture);
  // The walk may come to the middle of a slab that was made after the last picture.
  if (span->first_page() != region.start + page * kPageBytes) return 1;
  if (owner->has_slots) return number_of(span->pages);
  if (place.only != nullptr && owner->first_part != place.only) return number_of(span->pages);
  return add_slab(*span, *owner, picture, names);
}

// \returns false behind the last page.
bool add_spans(LivePlace& place, LivePicture& picture, PoolNames& names) {
  for (; place.region < page_map.region_count(); ++place.region, place.page = 0) {
    const Region& region = page_map.region(place.region);
    const std::size_t pages = std::size_t{region.committed_chunks} * kPagesPerChunk;
    const std::size_t end = place.page + kMostPages;
    while (place.page < pages) {
      if (picture.room() < kMostRunsOfSpan || place.page >= end) return true;
      place.page += add_span_at(region, place, pages, picture, names);
    }
    if (!picture.is_empty()) return true;
  }
  return false;
}

void take_out_cached(LivePicture& picture) {
  const auto take_out = [&](void* block) { picture.take_out(block); };
  registry.for_each_held([&](const ThreadHeap& heap) { visit_magazines(heap, take_out); });
  owners.for_each_held([&](const SlabOwner& owner) {
    visit_parked(owner, take_out);
    visit_cached_blocks(owner, take_out);
  });
}

}  // namespace

std::uint16_t PoolNames::add(const PoolHeader* pool) {
  if (count_ == LivePicture::kMostRuns || (count_ != 0 && pool == last_)) return count_;
  last_ = pool;
  Name& name = names_[count_++];
  name.kind = pool != nullptr ? pool->operations->kind : kObjectPoolKind;
  name.is_known = pool != nullptr;
  if (pool != nullptr) std::memcpy(name.text, pool->name, sizeof name.text);
  return count_;
}

bool take_next_picture(LivePlace& place, LivePicture& picture, PoolNames& names) {
  bool has_more = true;
  picture.clear();
  while (picture.is_empty() && has_more)
    pool_registry.with_pools_of_classes([&](const auto&) {
      names.clear();
      // Under every lock of magazines and slabs no slow call runs: no block moves between a cache and its
      // slab. Hits of running threads go on.
      const GiveBackGuard give_back;
      const os::LockGuard threads(owners.mutex());
      const os::WholeRankGuard magazines(os::LockRank::kMagazines), slabs(os::LockRank::kOwner);
      has_more = add_spans(place, picture, names);
      take_out_cached(picture);
    });
  return !picture.is_empty();
}

}  // namespace tarn::internal
