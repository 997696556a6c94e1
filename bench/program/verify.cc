// Overlap is found twice: by sorting a thread's blocks by address, and by tags at both ends of each, written
// by all threads before any of them reads.
#include "verify.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tarn::bench {
namespace {

[[noreturn]] void fail(const char* what, const LiveBlock& block) {
  std::fprintf(stderr, "bench: %s: block %p of %zu bytes\n", what, block.block, block.bytes);
  std::_Exit(kWrongBlocksStatus);
}

std::uintptr_t address_of(const LiveBlock& block) { return reinterpret_cast<std::uintptr_t>(block.block); }

std::size_t alignment_of(std::size_t bytes) { return bytes >= 16 ? 16 : bytes >= 8 ? 8 : 1; }

char* tail_of(const LiveBlock& block, std::size_t tag_bytes) {
  return static_cast<char*>(block.block) + block.bytes - tag_bytes;
}

}  // namespace

void tag_block(const LiveBlock& block, std::uint64_t tag) {
  const std::size_t tag_bytes = std::min(block.bytes, sizeof tag);
  std::memcpy(block.block, &tag, tag_bytes);
  std::memcpy(tail_of(block, tag_bytes), &tag, tag_bytes);
}

void check_tag(const LiveBlock& block, std::uint64_t tag) {
  // The tail was written last: where the two ends overlap, it is what remains.
  const std::size_t tag_bytes = std::min(block.bytes, sizeof tag);
  if (std::memcmp(tail_of(block, tag_bytes), &tag, tag_bytes) != 0) fail("lost what was written", block);
  if (block.bytes >= 2 * sizeof tag && std::memcmp(block.block, &tag, tag_bytes) != 0) {
    fail("lost what was written", block);
  }
}

void verify_blocks(Table<LiveBlock>& blocks, Alignment alignment, Worker& worker) {
  for (const LiveBlock& block : blocks) {
    if (block.block == nullptr) fail("no memory", block);
    if (alignment == Alignment::kMalloc && address_of(block) % alignment_of(block.bytes) != 0)
      fail("not aligned", block);
  }
  std::sort(blocks.begin(), blocks.end(),
            [](const LiveBlock& left, const LiveBlock& right) { return left.block < right.block; });
  for (std::size_t i = 1; i < blocks.size(); ++i) {
    if (address_of(blocks[i - 1]) + blocks[i - 1].bytes > address_of(blocks[i])) fail("overlaps", blocks[i]);
  }
  const std::uint64_t thread_tag = (std::uint64_t{worker.index()} + 1) << 40;
  for (std::size_t i = 0; i < blocks.size(); ++i) tag_block(blocks[i], thread_tag + i);
  worker.meet();
  for (std::size_t i = 0; i < blocks.size(); ++i) check_tag(blocks[i], thread_tag + i);
  worker.meet();
}

}  // namespace tarn::bench
