// Finds the live block that any address lies in, fast enough to ask it of every word of a program's memory;
// and gives each block of a snapshot a number, for sets of blocks with a bit each.
//
// The idea: of each 64 KiB of addresses the table knows the first span that reaches into it. A slot stands
// for 4 GiB; its entries exist only where it has more than one span.
//
// Invariant: block numbers of a span are consecutive, and spans begin at a multiple of 64.
// Threads: constant once made; any. It refers to the snapshot, which must outlive it.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "observer/snapshot/snapshot.h"

namespace tarn::observer {

class BlockTable {
 public:
  explicit BlockTable(const Snapshot& snapshot);

  /// `block`: which of the span's blocks; of a mixed page, which of its live ones.
  struct Place {
    std::uint32_t span = kNone, block = 0;
    bool is_none() const { return span == kNone; }
  };
  /// Whether it lies between the first span and the last: what most words fail.
  bool is_near(Address address) const { return address - low_ < high_ - low_; }
  /// Also of an address inside of a block.
  Place find(Address address) const;
  Block block_at(Place place) const;

  /// \returns the number of a block: its bit in a set of set_words() words.
  std::uint64_t number_of(Place place) const {
    return std::uint64_t{extents_[place.span].first_word} * 64 + place.block;
  }
  /// Words of a set of blocks that are a span's.
  std::uint32_t first_word(std::uint32_t span) const { return extents_[span].first_word; }
  std::uint32_t word_count(std::uint32_t span) const { return word_count_of(extents_[span].block_count); }
  std::uint32_t set_words() const { return word_count_; }

  const Snapshot& snapshot() const { return snapshot_; }

 private:
  static constexpr unsigned kPageBits = 16, kSlotBits = 32;
  static constexpr Address kAddressEnd = Address{1} << 52;

  /// What find() needs of a span, close together.
  struct Extent {
    Address start, end, first_block;
    std::uint64_t block_bytes;
    std::uint32_t stride, block_count;  // of a mixed page: its live blocks
    std::uint32_t first_word;
  };
  struct Slot {
    std::uint32_t first = kNone;                     // the first span that reaches into it
    std::unique_ptr<std::uint32_t[]> first_of_page;  // none: `first` reaches into all that has a span
  };

  void make_extents();
  void enter(std::uint32_t span);
  std::uint32_t& entry_of(Slot& slot, Address page);
  std::uint32_t first_span_at(Address address) const;
  Place place_in(std::uint32_t span, Address address) const;
  Place place_in_mixed_page(std::uint32_t span, Address address) const;

  const Snapshot& snapshot_;
  std::vector<Extent> extents_;  // as Snapshot::spans
  std::vector<Slot> slots_;
  Address low_ = 0;   // begins the first slot
  Address high_ = 0;  // of the last span's end
  std::uint32_t word_count_ = 0;
};

}  // namespace tarn::observer
