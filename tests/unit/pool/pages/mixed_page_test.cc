#include "pool/pages/mixed_page.h"

#include "general/options/setup.h"
#include "page/spans.h"
#include "support/content.h"
#include "support/prelude.h"
#include "support/seed.h"
#include "support/sizes.h"

namespace tarn::internal::mixed_page {
namespace {

class MixedPage : public ::testing::Test {
 protected:
  explicit MixedPage(std::uint32_t granule = kFineBytes) {
    set_up_once();
    span_ = allocate_span(
        {.pages = PageCount{1}, .kind = SpanKind::kPool, .bitmap_words = words_for(kPageBytes, granule)});
    EXPECT_NE(span_, nullptr);
    begin(*span_, kPageBytes, granule);
  }
  ~MixedPage() override {
    end(*span_);
    ReturnedPages returned;
    free_span(span_, returned);
  }
  Span& page() { return *span_; }
  void* take(std::size_t bytes, std::size_t alignment = 16) {
    return mixed_page::take(page(), bytes, alignment);
  }
  BlockIndex index_of(const void* block) const {
    return static_cast<BlockIndex>((static_cast<const char*>(block) - span_->start) / span_->stride);
  }

  /// Blocks of up to `most` bytes, some of them aligned, at random.
  void run_random_programs(std::size_t most);

 private:
  Span* span_;
};

class CoarsePage : public MixedPage {
 protected:
  CoarsePage() : MixedPage(kCoarseBytes) {}
};

TEST_F(MixedPage, BlocksOfAllSizesLieSideBySide) {
  EXPECT_TRUE(is_mixed(page()));
  char* next = page().start;
  std::size_t bytes = 0, count = 0;
  for (std::size_t size = 16; size <= kLargestFine; size += 16, ++count, bytes += size) {
    void* const block = take(size);
    ASSERT_EQ(block, next) << size;
    next += size;
    ASSERT_EQ(block_bytes(page(), index_of(block)), size);
    if (bytes + 2 * size > kPageBytes) break;
  }
  EXPECT_GT(count, 50u);
}

TEST_F(MixedPage, AFreeRunServesTheFirstThatFits) {
  void* const first = take(320);
  void* const second = take(16);
  EXPECT_EQ(give_back(page(), index_of(first)), 320u);
  EXPECT_EQ(take(336), static_cast<char*>(second) + 16);
  EXPECT_EQ(take(160), first);
  EXPECT_EQ(take(160), static_cast<char*>(first) + 160);
  validate(page());
}

TEST_F(MixedPage, OnlyTheStartOfALiveBlockIsABlock) {
  void* const first = take(64);
  void* const second = take(48);
  const auto at = [&](std::size_t granule) { return is_block(page(), static_cast<BlockIndex>(granule)); };
  EXPECT_TRUE(at(0));
  for (std::size_t inside : {1u, 2u, 3u, 5u, 6u}) EXPECT_FALSE(at(inside)) << inside;
  EXPECT_TRUE(at(4));
  EXPECT_FALSE(at(7));
  give_back(page(), index_of(first));
  EXPECT_FALSE(at(0));
  EXPECT_TRUE(at(4)) << "behind a free granule";
  give_back(page(), index_of(second));
  EXPECT_FALSE(at(4));
}

TEST_F(MixedPage, IsFilledToTheLastGranule) {
  std::set<void*> blocks;
  while (void* const block = take(48)) EXPECT_TRUE(blocks.insert(block).second);
  EXPECT_EQ(blocks.size(), kMostGranules / 3u);
  EXPECT_EQ(page().free_count, kMostGranules % 3u);
  EXPECT_NE(take(16), nullptr);
  EXPECT_EQ(take(16), nullptr);
  validate(page());
}

void MixedPage::run_random_programs(std::size_t most) {
  const std::size_t granule = page().stride, granules = page().block_count;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    test::Random random(seed);
    std::map<void*, std::size_t> live;
    std::size_t bytes = 0;
    for (std::uint64_t i = test::amount(20000, 1000000); i-- > 0;) {
      if (random.below(100) < 52) {
        const std::size_t size = granule * random.between(1, most / granule);
        const std::size_t alignment =
            random.below(8) == 0 ? granule << random.between(1, granule == kFineBytes ? 6 : 4) : granule;
        void* const block = take(size, alignment);
        if (block == nullptr) continue;
        ASSERT_EQ(address_of(block) % alignment, 0u);
        const auto next = live.lower_bound(block);
        if (next != live.end()) {
          ASSERT_LE(static_cast<char*>(block) + size, next->first);
        }
        if (next != live.begin()) {
          ASSERT_LE(static_cast<char*>(std::prev(next)->first) + std::prev(next)->second, block);
        }
        live.emplace(block, size);
        bytes += size;
      } else if (!live.empty()) {
        auto picked = live.begin();
        std::advance(picked, static_cast<std::ptrdiff_t>(random.below(live.size())));
        ASSERT_TRUE(is_block(page(), index_of(picked->first)));
        ASSERT_EQ(give_back(page(), index_of(picked->first)), picked->second);
        bytes -= picked->second;
        live.erase(picked);
      }
      if (i % 64 != 0) continue;
      const Live found = validate(page());
      ASSERT_EQ(found.bytes, bytes);
      ASSERT_EQ(found.count, live.size());
    }
    for (const auto& [block, size] : live) give_back(page(), index_of(block));
    EXPECT_EQ(page().free_count, granules);
  }
}

TEST_F(MixedPage, RandomProgramsLoseNoGranuleAndOverlapNowhere) { run_random_programs(kLargestFine); }

TEST_F(CoarsePage, RandomProgramsLoseNoGranuleAndOverlapNowhere) { run_random_programs(32 * 1024); }

TEST_F(CoarsePage, HasAlignedBlocksOfAnySizeAndIsFilled) {
  EXPECT_TRUE(is_mixed(page()));
  EXPECT_EQ(take(256, 4096), page().start);
  EXPECT_EQ(take(512, 4096), page().start + 4096);
  EXPECT_EQ(take(30 * 256), page().start + 4096 + 512) << "the run between them is shorter";
  EXPECT_EQ(take(14 * 256), page().start + 256);
  std::size_t count = 0;
  while (take(256) != nullptr) ++count;
  EXPECT_EQ(count, kPageBytes / 256 - 1 - 2 - 30 - 14);
  validate(page());
}

TEST_F(CoarsePage, AnAlignedBlockTakesTheHoleOfItsLike) {
  std::vector<void*> blocks;
  while (void* const block = take(4096, 4096)) blocks.push_back(block);
  EXPECT_EQ(blocks.size(), kPageBytes / 4096);
  give_back(page(), index_of(blocks[7]));
  EXPECT_EQ(take(4096, 4096), blocks[7]);
  validate(page());
}

TEST_F(MixedPage, AnAlignedBlockTakesTheHoleOfItsLike) {
  std::vector<void*> blocks;
  while (void* const block = take(64, 64)) blocks.push_back(block);
  EXPECT_EQ(blocks.size(), kPageBytes / 64);
  give_back(page(), index_of(blocks[100]));
  EXPECT_EQ(take(64, 64), blocks[100]);
  EXPECT_EQ(take(16, 1024), nullptr);
  validate(page());
}

}  // namespace
}  // namespace tarn::internal::mixed_page
