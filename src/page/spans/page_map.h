// Address -> span, for every page of every region; and the public index of pages
// (tarn/detail/page_index.h), which names the record that takes a block. The index covers the whole
// user address space in one lazily backed table, so that free needs no range check. Where that much address
// space is refused, the index stays empty and frees take the slow door.
//
// region: addresses from one reserve; a prefix of its chunks is committed. Regions are added, never removed.
// The uncommitted rest of a region can be given back, and a later region may lie there. The tables of a
// region and its part of the index read as zero everywhere, and are writable for the committed chunks.
//
// Invariant: every page of a span maps to the span, and none of them is free in its chunk; a page without a
// span is 0 in the index.
// Threads: any thread calls find() without a lock; all else runs under the page cache's lock.
#pragma once
#include <atomic>
#include <cstdint>

#include "base/relaxed.h"
#include "base/units.h"
#include "page/spans/chunk.h"
#include "page/spans/free_chunks.h"
#include "page/spans/span.h"
#include "tarn/detail/page_index.h"

namespace tarn::internal {

struct Chunk;

struct Region {
  char* start;
  std::atomic<std::size_t> bytes;         // shrinks when the tail is given back
  std::atomic<detail::SpanHead*>* spans;  // one per page; each is a Span
  Chunk* chunks;                          // one per chunk, and a last one that stays zero and ends every walk
  std::uint32_t chunk_count;
  Relaxed<std::uint32_t> committed_chunks;  // a prefix
  FreeChunks free_chunks;                   // its bits lie before the chunks
  // Under the growth lock: whether the addresses that are not committed have the advice of this density.
  bool is_rest_advised;
  Density density_of_rest;
};

class PageMap {
 public:
  static constexpr std::uint32_t kLargestRegionCount = 1024;

  /// \returns the span that holds an address, or nullptr. \cost first region: a subtraction and two loads.
  Span* find(const void* pointer) const {
    const std::uint32_t count = region_count_.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::size_t offset = address_of(pointer) - address_of(regions_[i].start);
      if (offset < regions_[i].bytes.load(std::memory_order_relaxed))
        return static_cast<Span*>(regions_[i].spans[offset >> kPageShift].load(std::memory_order_acquire));
    }
    return nullptr;
  }

  /// The first region's table, for the inlined paths of pools; covers 0 bytes while there is no region.
  detail::SpanTable first_table() const {
    if (region_count() == 0) return {};
    return {address_of(regions_[0].start), regions_[0].bytes, regions_[0].spans};
  }

  std::uint32_t region_count() const { return region_count_.load(std::memory_order_acquire); }
  Region& region(std::uint32_t i) { return regions_[i]; }

  /// Reserves the addresses of the index; without them it stays empty. Once, before the first region.
  void reserve_index();

  /// Gives the addresses of the index back; from now on index() is the empty one. \pre the process has no
  /// other thread, and the caller fetches index() anew before it frees a block. \returns bytes given back.
  std::size_t drop_index();
  std::size_t index_bytes() const;

  /// \returns the copy of the index's description that a thread reads it by.
  detail::PageIndex index() const;

  /// Adds a region of at least `least_bytes`, at most `wished_bytes`. \returns nullptr when the system
  /// refuses.
  Region* add_region(std::size_t least_bytes, std::size_t wished_bytes);

  /// Makes the tables writable for the next `count` chunks of a region. \returns false when the system
  /// refuses.
  bool commit_tables(const Region& region, std::uint32_t count);

  /// Gives the uncommitted part of a region back. \returns bytes given back.
  std::size_t release_tail(Region& region);

  /// Enters a span, or some of its pages; clears such entries.
  void set(Span* span) { write_spans(span, 0, span->pages, span); }
  void set_pages(Span* span, std::uint32_t first, PageCount count) { write_spans(span, first, count, span); }
  void clear_pages(Span* span, std::uint32_t first, PageCount count) {
    write_spans(span, first, count, nullptr);
  }
  void clear(Span* span) {
    if (span->kind == SpanKind::kSlab) set_record(span, detail::RecordPlace::kNone);
    write_spans(span, 0, span->pages, nullptr);
  }

  /// Enters the record that takes a slab's blocks into the index of pages; 0: no record takes them.
  void set_record(Span* span, detail::RecordPlace record);

  /// \pre no other thread makes, resizes or ends a span.
  void validate();

 private:
  friend class ObservedLayout;

  void write_spans(const Span* span, std::uint32_t first, PageCount count, Span* value);

  std::atomic<std::uint32_t> region_count_{0};
  std::uint16_t* writable_index_ = nullptr;  // nullptr where the index could not be had
  Region regions_[kLargestRegionCount] = {};
};

extern PageMap page_map;

}  // namespace tarn::internal
