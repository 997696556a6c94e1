// chunk: 2 MiB of a region, the size of a huge page; its pages are handed out in spans.
//
// Invariant: dirty_mask is a subset of free_mask; a chunk is listed under the length of its longest run of
// free pages, and under that of its longest run of dirty pages (0: not listed).
// Threads: under the page cache's lock.
#pragma once
#include <cstdint>

#include "base/list.h"
#include "base/units.h"

namespace tarn::internal {

struct Chunk;

/// Whether all pages will be written soon. A huge page is resident as a whole, so only dense spans should lie
/// in huge pages. What is sensitive is undumped: as sparse, in chunks of its own, which are left out of core
/// files.
enum class Density : std::uint8_t { kSparse, kDense, kUndumped };
inline constexpr Density kDensities[] = {Density::kSparse, Density::kDense, Density::kUndumped};
inline constexpr unsigned kDensityCount = sizeof kDensities / sizeof kDensities[0];
inline bool is_undumped(Density density) { return density == Density::kUndumped; }

struct ChunkLink {
  ChunkLink* previous;
  ChunkLink* next;
  Chunk* chunk;
};

struct Chunk {
  std::uint32_t free_mask;   // pages that no span has
  std::uint32_t dirty_mask;  // free pages that are backed by memory
  std::uint8_t free_run;     // number of the list that has the chunk
  std::uint8_t dirty_run;
  Density density;            // what the system was told of the chunk
  bool is_left_out_of_dumps;  // all of it was given back, and no page was taken since
  char* start;
  ChunkLink by_free;
  ChunkLink by_dirty;

  char* page(unsigned index) const { return start + index * kPageBytes; }
  void validate() const;
};

/// Chunks of one density, listed by their runs. A list's number is the length of the runs in it.
class ChunkLists {
 public:
  void relist(Chunk& chunk);

  /// \returns the chunk with the run of dirty (free) pages that fits `pages` best; nullptr if none is long
  /// enough.
  Chunk* find_dirty(PageCount pages) const { return first_of(by_dirty_, dirty_lists_, pages); }
  Chunk* find_free(PageCount pages) const { return first_of(by_free_, free_lists_, pages); }

  /// \returns the chunk with the longest dirty run, the coldest of several; nullptr if no page is dirty.
  Chunk* coldest_dirty() const;
  /// \returns the coldest wholly free chunk if none of its pages is dirty; else nullptr.
  Chunk* clean_chunk() const;

  /// \pre `with_free` chunks of this density have free pages, `with_dirty` chunks have dirty ones.
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
