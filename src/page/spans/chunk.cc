#include "page/spans/chunk.h"

#include <bit>

#include "base/bits.h"

namespace tarn::internal {

Chunk* ChunkLists::first_of(const Lists& lists, std::uint64_t filled, PageCount pages) {
  filled &= ~std::uint64_t{0} << number_of(pages);
  return filled == 0 ? nullptr : lists[std::countr_zero(filled)].first()->chunk;
}

void ChunkLists::move(Lists& lists, std::uint64_t& filled, ChunkLink& link, std::uint8_t& from,
                      std::uint8_t to) {
  if (from == to) return;
  if (from != 0) {
    lists[from].remove(&link);
    if (lists[from].is_empty()) filled &= ~(std::uint64_t{1} << from);
  }
  from = to;
  if (to == 0) return;
  lists[to].push_front(&link);
  filled |= std::uint64_t{1} << to;
}

void ChunkLists::relist(Chunk& chunk) {
  move(by_free_, free_lists_, chunk.by_free, chunk.free_run,
       static_cast<std::uint8_t>(longest_run(chunk.free_mask)));
  move(by_dirty_, dirty_lists_, chunk.by_dirty, chunk.dirty_run,
       static_cast<std::uint8_t>(longest_run(chunk.dirty_mask)));
}

Chunk* ChunkLists::coldest_dirty() const {
  return dirty_lists_ == 0 ? nullptr : by_dirty_[63 - std::countl_zero(dirty_lists_)].last()->chunk;
}

Chunk* ChunkLists::clean_chunk() const {
  const ChunkLink* const link = by_free_[kPagesPerChunk].last();
  return link == nullptr || link->chunk->dirty_mask != 0 ? nullptr : link->chunk;
}

}  // namespace tarn::internal
