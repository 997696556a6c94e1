// The pool of source 003, a ring of chunks, written anew from the paper.
//
// The paper's: one large block is cut into chunks, each chunk into blocks of one size. A chunk has a list of
// its free blocks in the order of their addresses, with the links in the blocks, and their number.
// Allocation walks: it takes the next free block behind the last one, goes on to the next chunk after a
// chunk's last block, skips chunks that have too few, and begins again after the last chunk. A free block is
// put back in its place of the list, by a search from the list's start. A larger request takes neighbours.
// Filled in: a run of neighbours lies in one chunk; a pool that has no room returns nullptr.
#pragma once
#include <cstdint>
#include <vector>

#include "upstream.h"

namespace tarn::bench::source_003 {

template <std::size_t BlockBytes, std::size_t BlocksPerChunk, class Upstream = SystemMemory>
class ChunkRing {
 public:
  explicit ChunkRing(std::size_t chunks)
      : memory_(static_cast<char*>(Upstream::allocate(chunks * kChunkBytes))), chunks_(chunks) {
    for (std::size_t i = 0; i < chunks; ++i)
      chunks_[i] = {linked(memory_ + i * kChunkBytes, BlocksPerChunk, nullptr), BlocksPerChunk};
  }
  ~ChunkRing() { Upstream::deallocate(memory_, chunks_.size() * kChunkBytes); }
  ChunkRing(const ChunkRing&) = delete;
  ChunkRing& operator=(const ChunkRing&) = delete;

  /// `count` blocks side by side; nullptr when no chunk has them.
  void* allocate(std::size_t count = 1) {
    // One visit more than there are chunks: the walk may stand behind free blocks of its chunk.
    for (std::size_t visits = 0; visits <= chunks_.size(); ++visits) {
      if (chunks_[at_].free_count >= count)
        if (void* const run = take(chunks_[at_], count)) return run;
      at_ = at_ + 1 == chunks_.size() ? 0 : at_ + 1;
      position_ = passed_ = nullptr;
    }
    return nullptr;
  }

  void deallocate(void* run, std::size_t count = 1) {
    Chunk& chunk = chunks_[static_cast<std::size_t>(static_cast<char*>(run) - memory_) / kChunkBytes];
    auto* const first = static_cast<Block*>(run);
    Block** link = &chunk.first_free;
    while (*link != nullptr && *link < first) link = &(*link)->next;
    *link = linked(static_cast<char*>(run), count, *link);
    chunk.free_count += count;
    if (&chunk != &chunks_[at_] || first >= position_) return;
    Block* const last = behind(first, count - 1);
    if (passed_ == nullptr || passed_ < last) passed_ = last;
  }

 private:
  struct Block {
    Block* next;
  };
  struct Chunk {
    Block* first_free;
    std::size_t free_count;
  };
  static constexpr std::size_t kChunkBytes = BlockBytes * BlocksPerChunk;
  static_assert(BlockBytes % alignof(Block) == 0);

  static Block* behind(Block* block, std::size_t count) {
    return reinterpret_cast<Block*>(reinterpret_cast<char*>(block) + count * BlockBytes);
  }

  /// The first of `count` neighbours, linked to each other and the last of them to `next`.
  static Block* linked(char* memory, std::size_t count, Block* next) {
    while (count-- > 0) next = new (memory + count * BlockBytes) Block{next};
    return next;
  }

  /// The first run of enough neighbours behind the walk's position.
  void* take(Chunk& chunk, std::size_t count) {
    Block* before = passed_;
    Block** link = before == nullptr ? &chunk.first_free : &before->next;
    while (Block* const first = *link) {
      Block* last = first;
      std::size_t found = 1;
      for (; found < count && last->next == behind(last, 1); ++found) last = last->next;
      if (found == count) {
        *link = last->next;
        chunk.free_count -= count;
        position_ = behind(last, 1);
        passed_ = before;
        return first;
      }
      before = last;
      link = &last->next;
    }
    return nullptr;
  }

  char* memory_;
  std::vector<Chunk> chunks_;
  std::size_t at_ = 0;         // the chunk where the walk stands
  Block* position_ = nullptr;  // the walk has passed what lies below, in that chunk
  Block* passed_ = nullptr;    // the last free block below the position; nullptr: none
};

}  // namespace tarn::bench::source_003
