#include "pool/mixed_page.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "general/setup.h"
#include "page/spans.h"
#include "support/content.h"
#include "support/seed.h"
#include "support/sizes.h"

namespace tarn::internal::mixed_page {
namespace {

class MixedPage : public ::testing::Test {
 protected:
  MixedPage() {
    set_up_once();
    span_ = allocate_span({.pages = PageCount{1}, .kind = SpanKind::kPool, .bitmap_words = kAllWords});
    EXPECT_NE(span_, nullptr);
    begin(*span_);
  }
  ~MixedPage() override {
    end(*span_);
    ReturnedPages returned;
    free_span(span_, returned);
  }
  Span& page() { return *span_; }
  BlockIndex index_of(const void* block) const {
    return static_cast<BlockIndex>((static_cast<const char*>(block) - span_->start) / kGranuleBytes);
  }

 private:
  Span* span_;
};

TEST_F(MixedPage, BlocksOfAllSizesLieSideBySide) {
  EXPECT_TRUE(is_mixed(page()));
  char* next = page().start;
  std::size_t bytes = 0, count = 0;
  for (std::size_t size = 16; size <= kLargestBlock; size += 16, ++count, bytes += size) {
    void* const block = take(page(), size);
    ASSERT_EQ(block, next) << size;
    next += size;
    ASSERT_EQ(block_bytes(page(), index_of(block)), size);
    if (bytes + 2 * size > kPageBytes) break;
  }
  EXPECT_GT(count, 50u);
}

TEST_F(MixedPage, AFreeRunServesTheFirstThatFits) {
  void* const first = take(page(), 320);
  void* const second = take(page(), 16);
  EXPECT_EQ(give_back(page(), index_of(first)), 320u);
  EXPECT_EQ(take(page(), 336), static_cast<char*>(second) + 16);
  EXPECT_EQ(take(page(), 160), first);
  EXPECT_EQ(take(page(), 160), static_cast<char*>(first) + 160);
  validate(page());
}

TEST_F(MixedPage, OnlyTheStartOfALiveBlockIsABlock) {
  void* const first = take(page(), 64);
  void* const second = take(page(), 48);
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
  while (void* const block = take(page(), 48)) EXPECT_TRUE(blocks.insert(block).second);
  EXPECT_EQ(blocks.size(), kGranules / 3u);
  EXPECT_EQ(page().free_count, kGranules % 3u);
  EXPECT_NE(take(page(), 16), nullptr);
  EXPECT_EQ(take(page(), 16), nullptr);
  validate(page());
}

TEST_F(MixedPage, RandomProgramsLoseNoGranuleAndOverlapNowhere) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    test::Random random(seed);
    std::map<void*, std::size_t> live;
    std::size_t bytes = 0;
    for (std::uint64_t i = test::amount(20000, 1000000); i-- > 0;) {
      if (random.below(100) < 52) {
        const std::size_t size = 16 * random.between(1, 64);
        void* const block = take(page(), size);
        if (block == nullptr) continue;
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
    EXPECT_EQ(page().free_count, kGranules);
  }
}

}  // namespace
}  // namespace tarn::internal::mixed_page
