#include "observer/pages/span_parts.h"

#include <algorithm>
#include <bit>

namespace tarn::observer {
namespace {

std::uint64_t overlap(Address start, Address end, Address other_start, Address other_end) {
  const Address from = std::max(start, other_start), to = std::min(end, other_end);
  return from < to ? to - from : 0;
}

/// The blocks of a span that has them at equal distances.
class BlockRow {
 public:
  BlockRow(const Snapshot& snapshot, const Span& span)
      : snapshot_(snapshot),
        span_(span),
        stride_(span.block_count == 1 ? span.end() - span.first_block : span.stride),
        block_bytes_(std::min(span.block_bytes, stride_)) {}

  /// The live and free bytes from `start` to `end`.
  SpanParts parts_in(Address start, Address end) const;

 private:
  Address start_of(std::uint64_t block) const { return span_.first_block + block * stride_; }
  std::uint64_t live_in(std::uint64_t first, std::uint64_t end) const;
  SpanParts whole_blocks(std::uint64_t first, std::uint64_t end) const;
  SpanParts cut_block(std::uint64_t block, Address start, Address end) const;

  const Snapshot& snapshot_;
  const Span& span_;
  std::uint64_t stride_, block_bytes_;
};

/// How many of the blocks first..end-1 are live.
std::uint64_t BlockRow::live_in(std::uint64_t first, std::uint64_t end) const {
  if (first == 0 && end == span_.block_count) return span_.live;
  std::uint64_t live = 0;
  while (first < end) {
    const std::uint64_t count = std::min(end - first, 64 - first % 64);
    const std::uint64_t mask = (count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1)
                               << first % 64;
    live +=
        static_cast<std::uint64_t>(std::popcount(snapshot_.live_words[span_.first_word + first / 64] & mask));
    first += count;
  }
  return live;
}

SpanParts BlockRow::whole_blocks(std::uint64_t first, std::uint64_t end) const {
  const std::uint64_t live = live_in(first, end);
  return {.live = live * block_bytes_,
          .rounding = live * (stride_ - block_bytes_),
          .free = (end - first - live) * stride_};
}

SpanParts BlockRow::cut_block(std::uint64_t block, Address start, Address end) const {
  const Address at = start_of(block);
  const std::uint64_t whole = overlap(start, end, at, at + stride_);
  if (live_in(block, block + 1) == 0) return {.free = whole};
  const std::uint64_t live = overlap(start, end, at, at + block_bytes_);
  return {.live = live, .rounding = whole - live};
}

SpanParts BlockRow::parts_in(Address start, Address end) const {
  start = std::max(start, span_.first_block);
  end = std::min(end, start_of(span_.block_count));
  if (start >= end) return {};
  const std::uint64_t from = start - span_.first_block, to = end - span_.first_block;
  const std::uint64_t first_whole = (from + stride_ - 1) / stride_, end_whole = to / stride_;
  if (first_whole > end_whole) return cut_block(end_whole, start, end);  // all of it in one block
  SpanParts parts = whole_blocks(first_whole, end_whole);
  if (from % stride_ != 0) parts += cut_block(first_whole - 1, start, end);
  if (to % stride_ != 0) parts += cut_block(end_whole, start, end);
  return parts;
}

SpanParts mixed_parts(const Snapshot& snapshot, const Span& span, Address start, Address end) {
  SpanParts parts;
  parts.live = snapshot.mixed_bytes_in(span, start, end);
  parts.free = end - start - std::min(parts.live, end - start);
  return parts;
}

}  // namespace

SpanParts& SpanParts::operator+=(const SpanParts& other) {
  live += other.live;
  rounding += other.rounding;
  free += other.free;
  return *this;
}

SpanParts parts_of(const Snapshot& snapshot, const Span& span, Address start, Address end) {
  if (span.use == SpanUse::kMixedPage) return mixed_parts(snapshot, span, start, end);
  if (span.block_count == 0 || (span.stride == 0 && span.block_count != 1)) return {.free = end - start};
  SpanParts parts = BlockRow(snapshot, span).parts_in(start, end);
  parts.rounding = end - start - std::min(end - start, parts.live + parts.free);
  return parts;
}

}  // namespace tarn::observer
