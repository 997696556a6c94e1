#include "central/slabs/slab.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <vector>

#include "page/give_back/page_cache.h"
#include "page/spans.h"
#include "page/spans/page_map.h"
#include "support/child.h"

namespace tarn::internal {
namespace {

class Slabs : public ::testing::Test {
 protected:
  Span* make(std::size_t size) {
    const auto size_class = detail::class_of_bin[detail::bin_of(size)];
    const ClassGeometry& geometry = class_geometry[size_class];
    Span* const slab = allocate_span(
        {.pages = geometry.slab_pages, .kind = SpanKind::kSlab, .bitmap_words = geometry.word_count});
    if (slab != nullptr)
      begin_slab(*slab, {size_class, geometry, blocks_in(geometry, geometry.slab_pages), 0});
    return slab;
  }
  static BlockIndex index(const Span& slab, const void* block) {
    return BlockIndex{static_cast<std::uint32_t>(static_cast<const char*>(block) - slab.start) / slab.stride};
  }
  static void give_back(Span& slab, const void* block) {
    mark_free(slab, bitmap::word_of(index(slab, block)), bitmap::bit(index(slab, block)));
  }
};

TEST_F(Slabs, GiveEveryBlockOnceLowestAddressLast) {
  for (const std::size_t size : {8u, 16u, 100u, 512u, 1024u, 5000u, 30000u, 200000u}) {
    Span* const slab = make(size);
    ASSERT_NE(slab, nullptr);
    std::vector<void*> blocks(slab->block_count + 5u);
    const unsigned first = take_from_slab(*slab, blocks.data(), 3);
    EXPECT_TRUE(std::is_sorted(blocks.begin(), blocks.begin() + first, std::greater<>()));
    EXPECT_EQ(blocks[first - 1], slab->start);
    const unsigned rest = take_from_slab(*slab, blocks.data() + first, slab->block_count);
    EXPECT_EQ(first + rest, slab->block_count);
    EXPECT_EQ(slab->free_count, 0u);
    EXPECT_EQ(take_from_slab(*slab, blocks.data() + first + rest, 1), 0u);
    blocks.resize(slab->block_count);
    std::sort(blocks.begin(), blocks.end());
    for (std::uint32_t i = 0; i < slab->block_count; ++i)
      ASSERT_EQ(blocks[i], slab->start + i * slab->stride);
  }
}

TEST_F(Slabs, BlocksGivenBackComeAgainInOrder) {
  Span* const slab = make(48);
  std::vector<void*> blocks(slab->block_count);
  take_from_slab(*slab, blocks.data(), slab->block_count);
  std::sort(blocks.begin(), blocks.end());
  for (const std::size_t i : {700u, 5u, 64u, 63u, 128u}) give_back(*slab, blocks[i]);
  EXPECT_EQ(slab->free_count, 5u);
  void* taken[5];
  ASSERT_EQ(take_from_slab(*slab, taken, 5), 5u);
  void* const expected[] = {blocks[700], blocks[128], blocks[64], blocks[63], blocks[5]};
  EXPECT_TRUE(std::equal(taken, taken + 5, expected));
}

TEST_F(Slabs, RemoteBitsAreMergedOnce) {
  Span* const slab = make(100);
  std::vector<void*> blocks(slab->block_count);
  take_from_slab(*slab, blocks.data(), slab->block_count);
  slab->remote_bits[0].store(0b1011);
  slab->remote_bits[slab->word_count - 1].store(1);
  EXPECT_EQ(merge_remote_bits(*slab), 4u);
  EXPECT_EQ(slab->free_count, 4u);
  EXPECT_EQ(merge_remote_bits(*slab), 0u);
  validate_locked(*slab);
}

TEST_F(Slabs, AFreeCountThatItsBitsDoNotBearOutStopsTheProcess) {
  Span* const slab = make(100);
  const test::ChildResult result = test::run_in_child([&] {
    validate_locked(*slab);
    --slab->free_count;
    validate_locked(*slab);
    return 0;
  });
  EXPECT_EQ(result.signal, SIGABRT);
}

TEST_F(Slabs, AColourMovesTheFirstBlock) {
  Span* const slab = make(1024);
  const SizeClass size_class = slab->size_class.load();
  begin_slab(*slab, {size_class, bin_geometry[size_class], slab->block_count - 1u, 128});
  EXPECT_EQ(slab->start, slab->first_page() + 128);
  void* block = nullptr;
  take_from_slab(*slab, &block, 1);
  EXPECT_EQ(block, slab->start);
}

TEST_F(Slabs, ABlockGivenBackTwiceStopsTheProcess) {
  Span* const slab = make(100);
  void* blocks[4];
  take_from_slab(*slab, blocks, 4);
  const test::ChildResult result = test::run_in_child([&] {
    give_back(*slab, blocks[1]);
    give_back(*slab, blocks[1]);
    return 0;
  });
  EXPECT_EQ(result.signal, SIGABRT);
  EXPECT_EQ(result.error.rfind("tarn: double free: 0x", 0), 0u) << result.error;
}

TEST_F(Slabs, AreInThePageMapFromTheirMakingToTheirEnd) {
  Span* const slab = make(3000);
  char* const start = slab->start;
  EXPECT_EQ(page_map.find(start), slab);
  EXPECT_EQ(page_map.find(start + slab->bytes() - 1), slab);
  const std::size_t used = page_cache.stats().used_bytes, bytes = slab->bytes();
  {
    ReturnedPages returned;
    free_span(slab, returned);
  }
  EXPECT_EQ(page_map.find(start), nullptr);
  EXPECT_EQ(page_cache.stats().used_bytes, used - bytes);
}

}  // namespace
}  // namespace tarn::internal
