// The table of blocks by address.
#include "observer/leaks/block_table.h"

#include <algorithm>

namespace tarn::observer {

BlockTable::BlockTable(const Snapshot& snapshot) : snapshot_(snapshot) {
  make_extents();
  if (extents_.empty()) return;
  low_ = extents_.front().start >> kSlotBits << kSlotBits;
  high_ = std::min(extents_.back().end, kAddressEnd);
  high_ = std::max(high_, low_);
  if (high_ == low_) return;
  slots_.resize(((high_ - 1 - low_) >> kSlotBits) + 1);
  for (std::uint32_t i = 0; i < extents_.size(); ++i) enter(i);
}

void BlockTable::make_extents() {
  extents_.reserve(snapshot_.spans.size());
  for (const Span& span : snapshot_.spans) {
    const bool is_mixed = span.use == SpanUse::kMixedPage;
    const std::uint32_t blocks = is_mixed ? span.live : span.block_count;
    extents_.push_back(
        {span.start, span.end(), span.first_block, span.block_bytes, span.stride, blocks, word_count_});
    word_count_ += word_count_of(blocks);
  }
}

std::uint32_t& BlockTable::entry_of(Slot& slot, Address page) {
  if (!slot.first_of_page) {
    const std::size_t entries = std::size_t{1} << (kSlotBits - kPageBits);
    slot.first_of_page = std::make_unique_for_overwrite<std::uint32_t[]>(entries);
    std::fill_n(slot.first_of_page.get(), entries, slot.first);
  }
  return slot.first_of_page[page & ((std::uint64_t{1} << (kSlotBits - kPageBits)) - 1)];
}

/// \pre spans are entered by address. \why a span that fills slots needs no entry in them: forged sizes cost
/// no memory.
void BlockTable::enter(std::uint32_t span) {
  const Address start = extents_[span].start, end = std::min(extents_[span].end, high_);
  for (Address at = start; at < end;) {
    Slot& slot = slots_[(at - low_) >> kSlotBits];
    const Address slot_start = at >> kSlotBits << kSlotBits;
    const Address slot_end = slot_start + (Address{1} << kSlotBits);
    if (at == slot_start && end >= slot_end) {
      slot.first = span;
    } else {
      const Address last = (std::min(end, slot_end) - 1) >> kPageBits;
      for (Address page = at >> kPageBits; page <= last; ++page) {
        std::uint32_t& first = entry_of(slot, page);
        if (first == kNone) first = span;
      }
    }
    at = slot_end;
  }
}

std::uint32_t BlockTable::first_span_at(Address address) const {
  if (!is_near(address)) return kNone;
  const Slot& slot = slots_[(address - low_) >> kSlotBits];
  if (!slot.first_of_page) return slot.first;
  return slot.first_of_page[address >> kPageBits & ((std::uint64_t{1} << (kSlotBits - kPageBits)) - 1)];
}

BlockTable::Place BlockTable::find(Address address) const {
  for (std::uint32_t i = first_span_at(address); i < extents_.size(); ++i) {
    if (address < extents_[i].start) break;
    if (address < extents_[i].end) return place_in(i, address);
  }
  return {};
}

BlockTable::Place BlockTable::place_in(std::uint32_t span, Address address) const {
  const Extent& extent = extents_[span];
  const Span& described = snapshot_.spans[span];
  if (described.use == SpanUse::kMixedPage) return place_in_mixed_page(span, address);
  if (address < extent.first_block || extent.block_count == 0) return {};
  std::uint64_t offset = address - extent.first_block;
  std::uint32_t block = 0;
  if (extent.block_count > 1) {
    if (extent.stride == 0 || offset >= std::uint64_t{extent.stride} * extent.block_count) return {};
    // A division of 32 bits takes a third of the time.
    block = offset <= UINT32_MAX ? static_cast<std::uint32_t>(offset) / extent.stride
                                 : static_cast<std::uint32_t>(offset / extent.stride);
    offset -= std::uint64_t{block} * extent.stride;
  }
  if (offset >= extent.block_bytes || !snapshot_.is_live(described, block)) return {};
  return {span, block};
}

BlockTable::Place BlockTable::place_in_mixed_page(std::uint32_t span, Address address) const {
  const Block* const first = snapshot_.mixed_blocks.data() + snapshot_.spans[span].first_mixed;
  const Block* const end = first + extents_[span].block_count;
  const Block* const behind =
      std::upper_bound(first, end, address, [](Address a, const Block& block) { return a < block.address; });
  if (behind == first || address - behind[-1].address >= behind[-1].bytes) return {};
  return {span, static_cast<std::uint32_t>(behind - 1 - first)};
}

Block BlockTable::block_at(Place place) const {
  const Span& span = snapshot_.spans[place.span];
  if (span.use == SpanUse::kMixedPage) return snapshot_.mixed_blocks[span.first_mixed + place.block];
  return {span.first_block + std::uint64_t{place.block} * span.stride, span.block_bytes, place.span};
}

}  // namespace tarn::observer
