// Which blocks of a heap are live, slab by slab in the order of their addresses.
#include <algorithm>

#include "base/bitmap.h"
#include "general/live_picture.h"
#include "pool/heap_slabs.h"
#include "tarn/detail/live_bits.h"

namespace tarn::internal {
namespace {

/// Some slabs of the lowest addresses, of those that were added.
class LowestSlabs {
 public:
  bool is_full() const { return count_ == kMost; }

  void add(const Span& slab) {
    if (!is_full()) {
      slabs_[count_++] = &slab;
    } else if (is_lower(&slab, slabs_[0])) {
      std::pop_heap(slabs_, slabs_ + kMost, is_lower);
      slabs_[kMost - 1] = &slab;
    } else {
      return;
    }
    std::push_heap(slabs_, slabs_ + count_, is_lower);
  }
  void sort() { std::sort_heap(slabs_, slabs_ + count_, is_lower); }

  const Span* const* begin() const { return slabs_; }
  const Span* const* end() const { return slabs_ + count_; }

 private:
  static constexpr unsigned kMost = 256;
  static bool is_lower(const Span* a, const Span* b) { return a->start < b->start; }

  unsigned count_ = 0;
  const Span* slabs_[kMost];
};

std::uint32_t most_runs_of(const Span& slab) {
  return mixed_page::is_mixed(slab) ? mixed_page::kGranules : slab.word_count;
}

}  // namespace

template <typename Visit>
void HeapSlabs::for_each_slab(Visit visit) const {
  const auto visit_all = [&](const List<Span>& slabs) {
    for (const Span* slab = slabs.first(); slab != nullptr; slab = slab->next) visit(*slab);
  };
  visit_all(full_);
  visit_all(mixed_);
  for_each_list(visit_all);
}

void HeapSlabs::add_live_of(const Span& slab, LivePicture& picture) const {
  picture.add_blocks({slab.start, 0, block_bytes_of(slab), slab.stride, class_of(slab)}, slab.block_count,
                     [&](std::uint32_t word) { return ~slab.free_bits[word]; });
}

void HeapSlabs::add_live_of_mixed(const Span& page, LivePicture& picture) const {
  for (std::size_t granule = 0; granule < mixed_page::kGranules;) {
    const auto first = static_cast<BlockIndex>(granule);
    if (bitmap::test(page.free_bits, granule)) {
      ++granule;
      continue;
    }
    const std::size_t bytes = mixed_page::block_bytes(page, first);
    granule += bytes / mixed_page::kGranuleBytes;
    picture.add({page.block(first), 1, bytes, static_cast<std::uint32_t>(bytes), SizeClass::kNone});
  }
}

bool HeapSlabs::add_live(std::uintptr_t& behind, LivePicture& picture) const {
  LowestSlabs lowest;
  for_each_slab([&](const Span& slab) {
    if (address_of(slab.start) > behind) lowest.add(slab);
  });
  lowest.sort();
  for (const Span* const slab : lowest) {
    if (picture.room() < most_runs_of(*slab)) return true;
    mixed_page::is_mixed(*slab) ? add_live_of_mixed(*slab, picture) : add_live_of(*slab, picture);
    behind = address_of(slab->start);
  }
  return lowest.is_full();
}

}  // namespace tarn::internal
