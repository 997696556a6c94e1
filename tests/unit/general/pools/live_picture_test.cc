#include "general/pools/live_picture.h"

#include "support/prelude.h"
#include "tarn/detail/record_seal.h"

namespace tarn::internal {
namespace {

constexpr std::uint32_t kStride = 48;

class Pictured : public ::testing::Test {
 protected:
  char* at(std::size_t block) { return blocks_.data() + block * kStride; }
  LiveRun run(std::size_t block, std::uint64_t bits) {
    return {at(block), bits, kStride, kStride, detail::SizeClass::kNone};
  }
  std::vector<char*> seen() const {
    std::vector<char*> addresses;
    for (const LiveRun& run : *picture_)
      for (unsigned i = 0; i < 64; ++i)
        if ((run.bits >> i & 1) != 0) addresses.push_back(run.start + i * run.stride);
    return addresses;
  }

  std::vector<char> blocks_ = std::vector<char>(1000 * kStride);
  std::unique_ptr<LivePicture> picture_ = std::make_unique<LivePicture>();
};

TEST_F(Pictured, HasARunPerWordThatIsNotEmpty) {
  picture_->add_blocks(run(0, 0), 150, [](std::uint32_t word) { return word == 1 ? 0 : ~std::uint64_t{0}; });
  EXPECT_EQ(picture_->room(), LivePicture::kMostRuns - 2);
  const std::vector<char*> blocks = seen();
  ASSERT_EQ(blocks.size(), 64u + 22u) << "the word has ones behind the last block";
  EXPECT_EQ(blocks[63], at(63));
  EXPECT_EQ(blocks[64], at(128));
  EXPECT_EQ(blocks.back(), at(149));
}

TEST_F(Pictured, ABlockThatIsTakenOutIsNotLive) {
  picture_->add(run(0, 7));
  picture_->add(run(64, 1));
  picture_->add(run(200, 6));
  for (char* const no_block : {at(0) - 1, at(1) + 8, at(100), at(200), at(999)}) picture_->take_out(no_block);
  EXPECT_EQ(seen().size(), 6u) << "what is no live block of the picture changes nothing";
  for (const std::size_t block : {1, 64, 202}) picture_->take_out(at(block));
  EXPECT_EQ(seen(), (std::vector<char*>{at(0), at(2), at(201)}));
}

TEST_F(Pictured, NothingIsTakenOutOfAnEmptyOne) {
  picture_->take_out(at(1));
  EXPECT_TRUE(picture_->is_empty());
}

TEST_F(Pictured, KeepsTheLowestOfManyBlocks) {
  std::vector<char> bytes(LivePicture::kMostRuns + 500);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::size_t scattered = i * 7919 % bytes.size();
    picture_->keep_lowest({bytes.data() + scattered, 1, 1, 1, detail::SizeClass::kNone});
  }
  picture_->sort();
  const std::vector<char*> blocks = seen();
  ASSERT_EQ(blocks.size(), LivePicture::kMostRuns);
  for (std::size_t i = 0; i < blocks.size(); ++i) ASSERT_EQ(blocks[i], bytes.data() + i);
}

TEST(KeepLowest, KeepsTheLowestInWhicheverOrderTheyCome) {
  std::vector<int> all = {3, 1, 4, 2, 5, 0};
  std::sort(all.begin(), all.end());
  do {
    int kept[3] = {};
    std::uint32_t count = 0;
    for (const int one : all) keep_lowest(kept, count, 3, one);
    std::sort_heap(kept, kept + count);
    ASSERT_EQ(std::vector<int>(kept, kept + count), (std::vector<int>{0, 1, 2}));
  } while (std::next_permutation(all.begin(), all.end()));
}

TEST(KeepLowest, HasFewerWhereFewerCame) {
  int kept[3] = {};
  std::uint32_t count = 0;
  keep_lowest(kept, count, 3, 7, std::greater<int>());
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(kept[0], 7);
}

}  // namespace
}  // namespace tarn::internal

namespace tarn::detail {
namespace {

TEST(RecordSeal, DependsOnWhereTheRecordLiesAndOnEachOfItsWords) {
  int here = 0, there = 0;
  std::set<std::uint64_t> seals;
  for (const int* const record : {&here, &there})
    for (unsigned words = 0; words < 8; ++words)
      seals.insert(seal_of(record, words & 1, words >> 1 & 1, words >> 2));
  EXPECT_EQ(seals.size(), 16u);
  EXPECT_EQ(seals.count(0), 0u);
  EXPECT_EQ(seal_of(&here, 1, 2, 3), seal_of(&here, 1, 2, 3));
}

// Words that change together, as by a write of one byte all over a record.
TEST(RecordSeal, ChangesThatAreAlikeDoNotCancelOut) {
  int record = 0;
  std::set<std::uint64_t> seals;
  for (std::uint64_t byte = 0; byte < 256; ++byte) {
    const std::uint64_t word = byte * 0x0101010101010101;
    seals.insert(seal_of(&record, word, word, word));
  }
  EXPECT_EQ(seals.size(), 256u);
}

}  // namespace
}  // namespace tarn::detail
