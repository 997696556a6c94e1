// Which blocks of some slabs, chunks or pages are live at one moment: copied under the locks that keep the
// blocks from moving, so that a function of the program's sees them one by one when no lock is held any more.
//
// A picture is bounded; a walk over all blocks takes many, each of other addresses (observe/visit_blocks.cc).
// Invariant: the runs of one picture are of one pool, or all of the general pool's slabs and
// large blocks, and then in the order of their addresses.
// Threads: one.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/units.h"
#include "tarn/detail/bins.h"

namespace tarn::internal {

/// Keeps the lowest of many: adds an item, or forgets the highest, this one or another. The items are a heap
/// with the highest on top until std::sort_heap.
template <typename Item, typename IsLower>
void keep_lowest(Item* items, std::uint32_t& count, std::uint32_t most, const Item& item,
                 const IsLower& is_lower) {
  if (count == most) {
    if (!is_lower(item, items[0])) return;
    std::pop_heap(items, items + count--, is_lower);
  }
  items[count++] = item;
  std::push_heap(items, items + count, is_lower);
}
template <typename Item>
void keep_lowest(Item* items, std::uint32_t& count, std::uint32_t most, const Item& item) {
  keep_lowest(items, count, most, item, [](const Item& one, const Item& other) { return one < other; });
}

/// Up to 64 places for blocks of one size, side by side.
struct LiveRun {
  char* start;         // of the first place
  std::uint64_t bits;  // a one for each live block
  std::size_t bytes;   // that the program may use of each block
  std::uint32_t stride;
  detail::SizeClass size_class;
  std::uint16_t name = 0;  // of its pool's (observe/live_slabs.h)

  bool operator<(const LiveRun& other) const { return start < other.start; }
};

class LivePicture {
 public:
  /// Enough for the slab, the chunk or the page that has most places.
  static constexpr std::uint32_t kMostRuns = 8 * 1024;

  void clear() { count_ = 0; }
  bool is_empty() const { return count_ == 0; }
  std::uint32_t room() const { return kMostRuns - count_; }
  LiveRun* begin() { return runs_; }
  LiveRun* end() { return runs_ + count_; }
  const LiveRun* begin() const { return runs_; }
  const LiveRun* end() const { return runs_ + count_; }

  /// \pre there is room.
  void add(const LiveRun& run) {
    if (run.bits != 0) runs_[count_++] = run;
  }

  /// Adds runs of `block_count` places. \param live(word) \returns the live blocks of the word of that
  /// number; ones behind the last block do not count. \pre there is room for a run per word.
  template <typename Live>
  void add_blocks(const LiveRun& first, std::uint32_t block_count, const Live& live) {
    for (std::uint32_t at = 0; at < block_count; at += 64) {
      const std::uint32_t left = block_count - at;
      LiveRun run = first;
      run.start += std::size_t{at} * first.stride;
      run.bits = live(at / 64) & (left < 64 ? (std::uint64_t{1} << left) - 1 : ~std::uint64_t{0});
      add(run);
    }
  }

  /// Keeps a block, or forgets the one of the highest address, this one or another. \pre sort() comes before
  /// all else but the next call.
  void keep_lowest(const LiveRun& block) { internal::keep_lowest(runs_, count_, kMostRuns, block); }
  void sort() { std::sort_heap(runs_, runs_ + count_); }

  /// The block is not live after all. \pre the runs are in the order of their addresses.
  void take_out(const void* block) {
    if (is_empty() || block < runs_[0].start) return;
    LiveRun* const behind = std::upper_bound(
        runs_, runs_ + count_, block, [](const void* at, const LiveRun& run) { return at < run.start; });
    LiveRun& run = behind[-1];
    const std::uintptr_t offset = address_of(block) - address_of(run.start);
    if (offset / run.stride < 64 && offset % run.stride == 0)
      run.bits &= ~(std::uint64_t{1} << offset / run.stride);
  }

 private:
  std::uint32_t count_ = 0;
  LiveRun runs_[kMostRuns];
};

}  // namespace tarn::internal
