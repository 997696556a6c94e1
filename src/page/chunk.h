// chunk: 2 MiB of a region, the size of a huge page; its pages are handed out in spans.
//
// Invariant: dirty_mask is a subset of free_mask; a chunk is listed under its longest run of free pages and
// under its longest run of dirty ones (0: not listed).
// Threads: under the page cache's lock.
#pragma once
#include <cstdint>

#include "base/list.h"
#include "base/units.h"

namespace tarn::internal {

struct Chunk;

/// Whether the pages will all be written soon. A huge page is resident as a whole, so only dense spans lie in
/// them.
enum class Density : std::uint8_t { kSparse, kDense };

struct ChunkLink {
  ChunkLink* previous;
  ChunkLink* next;
  Chunk* chunk;
};

struct Chunk {
  std::uint32_t free_mask;   // pages nobody uses
  std::uint32_t dirty_mask;  // those of them that are backed by memory
  std::uint8_t free_run;     // list it is in
  std::uint8_t dirty_run;
  Density density;            // kDense: 2 MiB pages were asked for
  bool is_left_out_of_dumps;  // it was given back as a whole, and no page of it was taken since
  char* start;
  ChunkLink by_free;
  ChunkLink by_dirty;

  void validate() const;
};

/// Chunks of one density by their runs. A list's number is the length of the runs in it.
class ChunkLists {
 public:
  void relist(Chunk& chunk);

  /// A chunk with a run of at least `pages` dirty (free) pages that fits best; nullptr if there is none.
  Chunk* find_dirty(PageCount pages) const { return first_of(by_dirty_, dirty_lists_, pages); }
  Chunk* find_free(PageCount pages) const { return first_of(by_free_, free_lists_, pages); }

  /// The chunk with the longest dirty run, the coldest of those; nullptr if no page is dirty.
  Chunk* coldest_dirty() const;
  /// A chunk that is wholly free, with no dirty page; nullptr if the coldest such has one.
  Chunk* clean_chunk() const;

  /// \pre so many chunks of this density have free pages, so many dirty ones.
  void validate(Density density, std::size_t with_free, std::size_t with_dirty) const;

 private:
  static constexpr unsigned kListCount = kPagesPerChunk + 1;
  using Lists = List<ChunkLink>[kListCount];

  static Chunk* first_of(const Lists& lists, std::uint64_t filled, PageCount pages);
  static std::size_t validate(const Lists& lists, std::uint64_t filled, Density density,
                              std::uint8_t Chunk::*run, ChunkLink Chunk::*link);
  static void move(Lists& lists, std::uint64_t& filled, ChunkLink& link, std::uint8_t& from, std::uint8_t to);

  std::uint64_t free_lists_ = 0;  // bit n: list n is not empty
  std::uint64_t dirty_lists_ = 0;
  Lists by_free_;
  Lists by_dirty_;
};

}  // namespace tarn::internal
