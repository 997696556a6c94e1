// Blocks that are none are found: each of these ends the program with the status that `tarn bench` knows.
#include "verify.h"

#include "support/prelude.h"

namespace tarn::bench {
namespace {

struct Blocks {
  alignas(16) char memory[256] = {};
  Table<LiveBlock> live{2};
  Worker only{0, nullptr};

  void set(std::size_t first, std::size_t second, std::size_t bytes) {
    live[0] = {memory + first, bytes};
    live[1] = {memory + second, bytes};
  }
};

TEST(VerifyBlocks, GoodBlocksPass) {
  Blocks blocks;
  blocks.set(64, 0, 64);
  verify_blocks(blocks.live, Alignment::kMalloc, blocks.only);
}

TEST(VerifyBlocks, AnOverlapOfOneByteIsFound) {
  Blocks blocks;
  blocks.set(0, 48, 49);
  EXPECT_EXIT(verify_blocks(blocks.live, Alignment::kMalloc, blocks.only),
              ::testing::ExitedWithCode(kWrongBlocksStatus), "overlaps");
}

TEST(VerifyBlocks, ABlockGivenTwiceIsFound) {
  Blocks blocks;
  blocks.set(16, 16, 16);
  EXPECT_EXIT(verify_blocks(blocks.live, Alignment::kPool, blocks.only),
              ::testing::ExitedWithCode(kWrongBlocksStatus), "overlaps");
}

TEST(VerifyBlocks, NoBlockAtAllIsFound) {
  Blocks blocks;
  blocks.live[0] = {nullptr, 16};
  blocks.live[1] = {blocks.memory, 16};
  EXPECT_EXIT(verify_blocks(blocks.live, Alignment::kPool, blocks.only),
              ::testing::ExitedWithCode(kWrongBlocksStatus), "no memory");
}

TEST(VerifyBlocks, AMallocMustAlignWhereAPoolMayNot) {
  Blocks blocks;
  blocks.set(8, 64, 32);
  verify_blocks(blocks.live, Alignment::kPool, blocks.only);
  EXPECT_EXIT(verify_blocks(blocks.live, Alignment::kMalloc, blocks.only),
              ::testing::ExitedWithCode(kWrongBlocksStatus), "not aligned");
}

TEST(CheckTag, WhatIsOverwrittenIsFound) {
  char memory[32] = {};
  const LiveBlock block = {memory, sizeof memory};
  tag_block(block, 42);
  check_tag(block, 42);
  memory[31] ^= 1;
  EXPECT_EXIT(check_tag(block, 42), ::testing::ExitedWithCode(kWrongBlocksStatus), "lost what was written");
}

}  // namespace
}  // namespace tarn::bench
