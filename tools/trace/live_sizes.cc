// Two passes over the merged order: one finds the peak, one stops there. \why a histogram kept at each new
// peak would be copied as often as the program grows
#include "trace/live_sizes.h"

#include <vector>

#include "trace/merge.h"

namespace tarn::trace {
namespace {

constexpr unsigned kUsualAlignmentLog2 = 4;

struct Block {
  std::uint64_t size = 0;
  bool is_live = false;
  bool is_aligned = false;
};

class LiveBlocks {
 public:
  void take(const Happening& happening) {
    if (happening.block >= blocks_.size()) blocks_.resize(happening.block + 1);
    Block& block = blocks_[happening.block];
    if (block.is_live) bytes_ -= block.size;
    block = {.size = happening.size,
             .is_live = happening.kind != Happening::Kind::kFree,
             .is_aligned = happening.alignment_log2 > kUsualAlignmentLog2};
    if (block.is_live) bytes_ += block.size;
  }

  std::uint64_t bytes() const { return bytes_; }

  std::map<std::uint64_t, std::uint64_t> sizes() const {
    std::map<std::uint64_t, std::uint64_t> counts;
    for (const Block& block : blocks_)
      if (block.is_live && !block.is_aligned) ++counts[block.size];
    return counts;
  }

 private:
  std::vector<Block> blocks_;
  std::uint64_t bytes_ = 0;
};

/// How many happenings lead up to the peak, it included.
std::uint64_t count_to_peak(const Trace& trace) {
  LiveBlocks live;
  std::uint64_t count = 0, count_at_peak = 0, most = 0;
  Merger(trace, [&](const Happening& happening) {
    live.take(happening);
    ++count;
    if (live.bytes() <= most) return;
    most = live.bytes();
    count_at_peak = count;
  }).to_end();
  return count_at_peak;
}

}  // namespace

std::map<std::uint64_t, std::uint64_t> live_sizes_at_peak(const Trace& trace) {
  LiveBlocks live;
  std::uint64_t left = count_to_peak(trace);
  Merger(trace, [&](const Happening& happening) {
    if (left == 0) return;
    --left;
    live.take(happening);
  }).to_end();
  return live.sizes();
}

}  // namespace tarn::trace
