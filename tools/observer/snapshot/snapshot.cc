#include "observer/snapshot/snapshot.h"

namespace tarn::observer {

std::string_view name_of(SpanUse use) {
  switch (use) {
    case SpanUse::kSlab:
      return "slab";
    case SpanUse::kSpareSlab:
      return "spare slab";
    case SpanUse::kLarge:
      return "large block";
    case SpanUse::kCachedLarge:
      return "freed large block, kept";
    case SpanUse::kHandleGroup:
      return "group of a handle pool";
    case SpanUse::kHandleSlots:
      return "slots of a handle pool";
    case SpanUse::kHeapBlock:
      return "large block of a heap";
    case SpanUse::kMixedPage:
      return "mixed page of a heap";
    case SpanUse::kSparePage:
      return "spare page of a heap";
    case SpanUse::kOther:
      return "pages of the library's own";
  }
  return "";
}

std::uint64_t Snapshot::counter(std::string_view name) const {
  const auto found = std::ranges::find(counters, name, &Counter::name);
  return found != counters.end() ? found->value : 0;
}

std::int64_t Snapshot::option(std::string_view key, std::int64_t otherwise) const {
  const auto found = std::ranges::find(options, key, &OptionValue::key);
  return found != options.end() ? found->value : otherwise;
}

std::uint32_t Snapshot::span_of(Address address) const {
  const auto behind = std::ranges::upper_bound(spans, address, {}, &Span::start);
  if (behind == spans.begin() || address >= (behind - 1)->end()) return kNone;
  return static_cast<std::uint32_t>(behind - spans.begin() - 1);
}

std::uint64_t Snapshot::mixed_bytes_in(const Span& span, Address start, Address end) const {
  const auto blocks = std::span(mixed_blocks).subspan(span.first_mixed, span.live);
  const auto first = std::partition_point(blocks.begin(), blocks.end(), [start](const Block& before) {
    return before.address + before.bytes <= start;
  });
  std::uint64_t bytes = 0;
  for (auto block = first; block != blocks.end() && block->address < end; ++block)
    bytes += std::min(end, block->address + block->bytes) - std::max(start, block->address);
  return bytes;
}

Block Snapshot::live_block_of(Address address) const {
  const std::uint32_t index = span_of(address);
  if (index == kNone) return {};
  const Span& span = spans[index];
  if (span.use == SpanUse::kMixedPage) {
    const auto first = mixed_blocks.begin() + span.first_mixed, end = first + span.live;
    const auto behind = std::upper_bound(first, end, address,
                                         [](Address at, const Block& block) { return at < block.address; });
    if (behind == first) return {};
    const Block& block = *(behind - 1);
    return address - block.address < block.bytes ? block : Block{};
  }
  if (address < span.first_block || span.block_count == 0) return {};
  const std::uint64_t offset = address - span.first_block;
  const std::uint64_t block = span.stride == 0 || span.block_count == 1 ? 0 : offset / span.stride;
  if (block >= span.block_count || !is_live(span, static_cast<std::uint32_t>(block))) return {};
  const Address start = span.first_block + block * span.stride;
  return address - start < span.block_bytes ? Block{start, span.block_bytes, index} : Block{};
}

}  // namespace tarn::observer
