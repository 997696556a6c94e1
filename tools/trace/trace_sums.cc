// What is live, while all calls pass by in their order.
#include "trace/trace_sums.h"

#include <fmt/format.h>

#include <bit>
#include <utility>
#include <vector>

namespace tarn::trace {
namespace {

std::uint64_t greatest_told_with(std::uint64_t size) {
  if (size <= kLargestToldApart) return size;
  const std::uint64_t step = std::uint64_t{1} << (std::bit_width(size - 1) - 3);
  return (size + step - 1) / step * step;
}

class Summing {
 public:
  void add(const Happening& happening);
  TraceSums end();

 private:
  struct Group {
    BlockSum live;
    std::uint64_t changed_after = 0;  // how many peaks
    SizeSums* sums = nullptr;
  };
  struct Block {
    Group* group = nullptr;  // nullptr: it is not live
    std::uint64_t size = 0;
  };

  Group& changed(Group& group);
  Group& group_of(std::uint64_t size);
  void count(Happening::Kind kind);

  TraceSums sums_;
  BlockSum live_;
  std::uint64_t peaks_ = 0;
  std::map<std::uint64_t, Group> groups_;
  std::vector<Block> blocks_;
};

/// To be called before it changes. \why to copy all groups at each peak would take the square of the time
Summing::Group& Summing::changed(Group& group) {
  if (group.changed_after != peaks_) group.sums->at_peak = group.live;
  group.changed_after = peaks_;
  return group;
}

Summing::Group& Summing::group_of(std::uint64_t size) {
  const std::uint64_t greatest = greatest_told_with(size);
  const auto [entry, is_new] = groups_.try_emplace(greatest);
  if (is_new) entry->second.sums = &sums_.by_size[greatest];
  return entry->second;
}

void Summing::count(Happening::Kind kind) {
  using Kind = Happening::Kind;
  ++(kind == Kind::kAllocate         ? sums_.allocations
     : kind == Kind::kAllocateZeroed ? sums_.zeroed_allocations
     : kind == Kind::kResize         ? sums_.resizes
                                     : sums_.frees);
}

// A resize takes the block out of the group of its old size, and puts it into that of its new one.
void Summing::add(const Happening& happening) {
  count(happening.kind);
  if (happening.block >= blocks_.size()) blocks_.resize(happening.block + 1);
  Block& block = blocks_[happening.block];
  if (block.group != nullptr) {
    changed(*block.group).live -= block.size;
    live_ -= block.size;
    block.group = nullptr;
  }
  if (happening.kind == Happening::Kind::kFree) return;
  block = {&changed(group_of(happening.size)), happening.size};
  block.group->live += block.size;
  block.group->sums->asked += block.size;
  live_ += block.size;
  sums_.all.asked += block.size;
  if (live_.bytes <= sums_.all.at_peak.bytes) return;
  sums_.all.at_peak = live_;
  ++peaks_;
}

TraceSums Summing::end() {
  for (auto& [size, group] : groups_) changed(group).sums->at_end = group.live;
  sums_.all.at_end = live_;
  return std::move(sums_);
}

}  // namespace

TraceSums sums_of(EventSource& source, std::uint32_t most_live_blocks) {
  Summing summing;
  const auto add = [&](const Happening& one) {
    if (one.block >= most_live_blocks)
      throw TraceError(
          fmt::format("the trace has more than {} live blocks: too many to add up", most_live_blocks));
    summing.add(one);
  };
  const MergeCounts merged = Merger(source, add).to_end();
  TraceSums sums = summing.end();
  sums.merged = merged;
  return sums;
}

}  // namespace tarn::trace
