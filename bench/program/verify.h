// The untimed pass that looks whether an allocator does its work: blocks do not overlap, are aligned, and
// keep what is written to them while other threads write to theirs.
#pragma once
#include <cstddef>
#include <cstdint>

#include "table.h"
#include "threads.h"

namespace tarn::bench {

struct LiveBlock {
  void* block;
  std::size_t bytes;
};

/// A malloc must align to 16 bytes. A pool's alignment is its own affair: Boost's is 8.
enum class Alignment { kMalloc, kPool };

/// Exit status of a program whose allocator returned wrong blocks.
inline constexpr int kWrongBlocksStatus = 3;

/// Ends the program with a message when a block is wrong. Every thread of the row calls it with its own
/// blocks.
void verify_blocks(Table<LiveBlock>& blocks, Alignment alignment, Worker& worker);

/// The same for what an `Api` gave, when `bytes_of(index)` tells the sizes.
template <class Api, class BytesOf>
void verify_blocks(const Table<void*>& blocks, BytesOf bytes_of, Worker& worker) {
  Table<LiveBlock> live(blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i)
    live[i] = {blocks[i] == nullptr ? nullptr : Api::memory_of(blocks[i]), bytes_of(i)};
  verify_blocks(live, Alignment::kMalloc, worker);
}

/// Writes `tag` to both ends of a block.
void tag_block(const LiveBlock& block, std::uint64_t tag);

/// Ends the program when a block does not hold its tag.
void check_tag(const LiveBlock& block, std::uint64_t tag);

}  // namespace tarn::bench
