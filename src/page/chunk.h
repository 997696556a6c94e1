// chunk: 2 MiB of a region, the size of a huge page; its pages are handed out in spans.
//
// Invariant: dirty_mask is a subset of free_mask; a chunk is listed in the page cache under its longest run of free
// pages and under its longest run of dirty ones (0: not listed).
// Threads: under the page cache's lock.
#pragma once
#include <cstdint>

#include "base/list.h"
#include "base/units.h"

namespace tarn::internal {

struct Chunk;

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
  bool is_huge;              // 2 MiB pages were asked for
  char* start;
  ChunkLink by_free;
  ChunkLink by_dirty;
};

}  // namespace tarn::internal
