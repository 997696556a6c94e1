// Address -> span, for every page of every region; and the public index of pages
// (tarn/detail/page_index.h), which holds the record that takes a block back. The index spans the whole
// user address space in one lazily backed table, so that free needs no range check; where so much address
// space cannot be had, it stays empty and frees take the slow door.
//
// region: addresses from one reserve; a prefix of its chunks is committed. Regions are added, never removed;
// the rest of one can be given up, and a later region may lie there. The tables of a region, and its part of
// the index, read as zero everywhere and are writable as far as its chunks are committed.
//
// Invariant: all pages of a span lead to it, and none of them is free in its chunk; a page that no span has
// is 0 in the index.
// Threads: find() by any, without a lock; the rest under the page cache's lock.
#pragma once
#include <atomic>
#include <cstdint>

#include "base/units.h"
#include "page/span.h"
#include "tarn/detail/page_index.h"

namespace tarn::internal {

struct Chunk;

struct Region {
  char* start;
  std::atomic<std::size_t> bytes;         // fewer when the tail is given up
  std::atomic<detail::SpanHead*>* spans;  // one per page; each is a Span
  Chunk* chunks;                          // one per chunk, and one that stays zero ends every walk
  std::uint32_t chunk_count;
  std::uint32_t committed_chunks;  // a prefix
};

class PageMap {
 public:
  static constexpr std::uint32_t kLargestRegionCount = 1024;

  /// The span that holds an address, or nullptr. \cost a subtraction and two loads in the first region.
  Span* find(const void* pointer) const {
    const std::uint32_t count = region_count_.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::size_t offset = address_of(pointer) - address_of(regions_[i].start);
      if (offset < regions_[i].bytes.load(std::memory_order_relaxed))
        return static_cast<Span*>(regions_[i].spans[offset >> kPageShift].load(std::memory_order_acquire));
    }
    return nullptr;
  }

  /// The first region's part, for the inlined paths of pools; of no bytes when there is no region yet.
  detail::SpanTable first_table() const {
    if (region_count() == 0) return {};
    return {address_of(regions_[0].start), regions_[0].bytes, regions_[0].spans};
  }

  std::uint32_t region_count() const { return region_count_.load(std::memory_order_acquire); }
  Region& region(std::uint32_t i) { return regions_[i]; }

  /// Takes the addresses of the index; without them it stays empty. Once, before the first region.
  void reserve_index();

  /// Gives the addresses of the index up; from now on index() is the empty one. \pre the calling thread is
  /// the only one of the process, and takes index() anew before it frees a block. \returns bytes given up.
  std::size_t drop_index();
  std::size_t index_bytes() const;

  /// What a thread needs to read the index.
  detail::PageIndex index() const;

  /// Takes a region of at least `least_bytes`, at most `wished_bytes`. \returns nullptr when the system
  /// refuses.
  Region* add_region(std::size_t least_bytes, std::size_t wished_bytes);

  /// Makes the tables writable for the next `count` chunks of a region. \returns false when the system
  /// refuses.
  bool commit_tables(const Region& region, std::uint32_t count);

  /// Gives up what is not committed of a region. \returns bytes given up.
  std::size_t release_tail(Region& region);

  /// Enters a span, or some of its pages; clears them.
  void set(Span* span) { write_spans(span, 0, span->pages, span); }
  void set_pages(Span* span, PageCount first, PageCount count) { write_spans(span, first, count, span); }
  void clear_pages(Span* span, PageCount first, PageCount count) { write_spans(span, first, count, nullptr); }
  void clear(Span* span) {
    if (span->kind == SpanKind::kSlab) set_record(span, 0);
    write_spans(span, 0, span->pages, nullptr);
  }

  /// Enters the record that takes a slab's blocks back into the index of pages; 0: none does.
  void set_record(Span* span, std::uint16_t record_offset);

  /// \pre no other thread makes, resizes or ends a span.
  void validate();

 private:
  void write_spans(const Span* span, PageCount first, PageCount count, Span* value);

  std::atomic<std::uint32_t> region_count_{0};
  std::uint16_t* writable_index_ = nullptr;  // nullptr where the index could not be had
  Region regions_[kLargestRegionCount] = {};
};

extern PageMap page_map;

}  // namespace tarn::internal
