// Which blocks of a heap are live, page by page in the order of their addresses.
#include <algorithm>

#include "base/bitmap.h"
#include "general/live_picture.h"
#include "pool/heap_pages.h"

namespace tarn::internal {
namespace {

/// Some spans of the lowest addresses, of those that were added.
class LowestSpans {
 public:
  bool is_full() const { return count_ == kMost; }

  void add(const Span& span) {
    if (!is_full()) {
      spans_[count_++] = &span;
    } else if (is_lower(&span, spans_[0])) {
      std::pop_heap(spans_, spans_ + kMost, is_lower);
      spans_[kMost - 1] = &span;
    } else {
      return;
    }
    std::push_heap(spans_, spans_ + count_, is_lower);
  }
  void sort() { std::sort_heap(spans_, spans_ + count_, is_lower); }

  const Span* const* begin() const { return spans_; }
  const Span* const* end() const { return spans_ + count_; }

 private:
  static constexpr unsigned kMost = 256;
  static bool is_lower(const Span* a, const Span* b) { return a->start < b->start; }

  unsigned count_ = 0;
  const Span* spans_[kMost];
};

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
  LowestSpans lowest;
  const auto add_all = [&](const List<Span>& spans) {
    for (const Span* span = spans.first(); span != nullptr; span = span->next)
      if (address_of(span->start) > behind) lowest.add(*span);
  };
  add_all(large_);
  for (const List<Span>& pages : mixed_) add_all(pages);
  lowest.sort();
  for (const Span* const span : lowest) {
    if (picture.room() < span->block_count) return true;
    if (mixed_page::is_mixed(*span))
      add_live_of_mixed(*span, picture);
    else
      picture.add({span->start, 1, block_bytes_of_large(*span), span->stride,
                   span->size_class.load(std::memory_order_relaxed)});
    behind = address_of(span->start);
  }
  return lowest.is_full();
}

}  // namespace tarn::internal
