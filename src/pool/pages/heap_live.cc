// Which blocks of a heap are live, page by page in the order of their addresses.
#include <algorithm>

#include "base/bitmap.h"
#include "base/lowest.h"
#include "general/pools/live_picture.h"
#include "pool/pages/heap_pages.h"

namespace tarn::internal {
namespace {

void add_live_of_mixed(const Span& page, LivePicture& picture) {
  for (std::size_t granule = 0; granule < page.block_count;) {
    const auto first = static_cast<BlockIndex>(granule);
    if (bitmap::test(page.free_bits, granule)) {
      ++granule;
      continue;
    }
    const std::size_t bytes = mixed_page::block_bytes(page, first);
    granule += bytes / page.stride;
    picture.add({page.block(first), 1, bytes, static_cast<std::uint32_t>(bytes), SizeClass::kNone});
  }
}

}  // namespace

bool HeapPages::add_live(std::uintptr_t& behind, LivePicture& picture) const {
  constexpr std::uint32_t kMost = 256;
  const Span* lowest[kMost];
  std::uint32_t count = 0;
  const auto is_lower = [](const Span* one, const Span* other) { return one->start < other->start; };
  const auto add_all = [&](const List<Span>& spans) {
    for (const Span* span = spans.first(); span != nullptr; span = span->next)
      if (address_of(span->start) > behind) keep_lowest(lowest, count, kMost, span, is_lower);
  };
  add_all(large_);
  for (const List<Span>& pages : mixed_) add_all(pages);
  std::sort_heap(lowest, lowest + count, is_lower);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Span* const span = lowest[i];
    if (picture.room() < span->block_count) return true;
    if (mixed_page::is_mixed(*span))
      add_live_of_mixed(*span, picture);
    else
      picture.add({span->start, 1, block_bytes_of_large(*span), span->stride,
                   span->size_class.load(std::memory_order_relaxed)});
    behind = address_of(span->start);
  }
  return count == kMost;
}

}  // namespace tarn::internal
