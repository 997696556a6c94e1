#include "observe/leaks/leak_blocks.h"

#include <algorithm>

namespace tarn::internal {
namespace {

bool is_before(const LeakBlock& a, const LeakBlock& b) {
  return a.start != b.start ? a.start < b.start : a.bytes > b.bytes;
}

bool begins_before(const LeakBlock& block, std::uint64_t address) { return block.start < address; }

// A part of a run, to be dropped: it lies in the block that stands for all of it.
constexpr std::uint32_t kPartOfRun = UINT32_MAX - 1;

}  // namespace

void LeakBlocks::sort() { std::sort(blocks_.begin(), blocks_.end(), is_before); }

void LeakBlocks::note_sample(LeakBlock* block, const Sample& sample) {
  block->is_sampled = true;
  block->stack = sample.stack;
  block->serial = sample.serial;
  // A large block that has grown in place keeps its sample as it was.
  const bool has_grown = block->bytes > sample.requested + kPageBytes;
  block->requested = has_grown ? block->bytes : sample.requested;
  const std::uint64_t end = sample.block + sample.requested;
  for (LeakBlock* part = block + 1; part != blocks_.end() && part->start < end; ++part) {
    if (part->is_sampled || part->pool != block->pool || part->end() > end + block->bytes) break;
    part->around = kPartOfRun;
    block->bytes = part->end() - block->start;
  }
}

void LeakBlocks::drop_parts_of_runs() {
  LeakBlock* const kept = std::remove_if(blocks_.begin(), blocks_.end(),
                                         [](const LeakBlock& block) { return block.around == kPartOfRun; });
  blocks_.set_size(static_cast<std::size_t>(kept - blocks_.begin()));
}

void LeakBlocks::note_around() {
  for (std::uint32_t i = 0; i < size(); ++i) {
    std::uint32_t around = i == 0 ? kNone : i - 1;
    while (around != kNone && !blocks_[around].contains(blocks_[i].start)) around = blocks_[around].around;
    blocks_[i].around = around;
    if (around != kNone) blocks_[around].has_inner = true;
    if (blocks_[i].end() > highest_) highest_ = blocks_[i].end();
  }
  lowest_ = size() == 0 ? 0 : blocks_[0].start;
}

bool LeakBlocks::make_buckets() {
  shift_ = kPageShift;
  while ((highest_ - lowest_) >> shift_ >= kMostBuckets) ++shift_;
  const std::size_t count = ((highest_ - lowest_) >> shift_) + 2;
  if (!buckets_.reserve(count)) return false;
  buckets_.set_size(count);
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t from = lowest_ + (std::uint64_t{i} << shift_);
    while (next < size() && blocks_[next].start < from) ++next;
    buckets_[i] = next;
  }
  return true;
}

bool LeakBlocks::link() {
  drop_parts_of_runs();
  note_around();
  return make_buckets();
}

std::uint32_t LeakBlocks::first_from(std::uint64_t address) const {
  if (address <= lowest_) return 0;
  if (address >= highest_) return size();
  const std::size_t bucket = (address - lowest_) >> shift_;
  const LeakBlock* const first = std::lower_bound(
      blocks_.begin() + buckets_[bucket], blocks_.begin() + buckets_[bucket + 1], address, begins_before);
  return static_cast<std::uint32_t>(first - blocks_.begin());
}

std::uint32_t LeakBlocks::find(std::uint64_t address) const {
  if (address - lowest_ >= highest_ - lowest_) return kNone;
  const std::uint32_t behind = first_from(address + 1);
  std::uint32_t found = behind == 0 ? kNone : behind - 1;
  while (found != kNone && !blocks_[found].contains(address)) found = blocks_[found].around;
  return found;
}

std::uint64_t LeakBlocks::end_of_blocks_around(std::uint64_t address) const {
  for (std::uint32_t found = find(address); found != kNone; found = blocks_[found].around)
    address = std::max(address, blocks_[found].end());
  return address;
}

}  // namespace tarn::internal
