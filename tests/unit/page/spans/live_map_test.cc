#include "page/spans/live_map.h"

#include <vector>

#include "page/spans/page_map.h"
#include "support/prelude.h"
#include "tarn/memory_pool.h"

namespace tarn::internal {
namespace {

using detail::SizeClass;

// The pool is in use, so there is a region, and each class with a slab has live bytes.
class LiveMapTest : public ::testing::Test {
 protected:
  void SetUp() override {
    deallocate(allocate(1));
    if (detail::kIsHardened || page_map.index_bytes() == 0) GTEST_SKIP() << "no live bytes";
  }
  static std::uintptr_t word_of(const void* block) {
    return live_word(page_map.find(block)->size_class.load());
  }
};

TEST_F(LiveMapTest, TellsEachBlockFromWhatIsBesideItAndInIt) {
  for (const std::size_t bytes : {1, 16, 24, 100, 500, 1000, 4000, 30'000, 200'000}) {
    std::vector<char*> blocks(20);
    for (char*& block : blocks) block = static_cast<char*>(allocate(bytes));
    for (char* const block : blocks) {
      const std::uintptr_t word = word_of(block);
      ASSERT_NE(word, 0u) << bytes;
      EXPECT_TRUE(detail::is_live(word, block));
      for (std::size_t offset = 8; offset < bytes && offset < 2048; offset += 8)
        EXPECT_FALSE(detail::is_live(word, block + offset)) << bytes << " bytes, at " << offset;
      for (std::size_t offset = 1; offset < bytes && offset < 127; ++offset)
        EXPECT_FALSE(detail::is_live(word, block + offset)) << bytes << " bytes, at " << offset;
    }
    for (char* const block : blocks) {
      const std::uintptr_t word = word_of(block);
      deallocate(block);
      EXPECT_FALSE(detail::is_live(word, block));
    }
  }
}

TEST_F(LiveMapTest, TellsEachPointerIntoAWindow) {
  alignas(512) static char memory[1024];
  for (std::size_t at = 0; at < 512; at += 8) {
    const std::uint32_t mark = detail::live_mark_of(memory + at);
    EXPECT_EQ(mark, detail::live_byte_of(memory + at)) << at;
    for (std::size_t other = 0; other < 512; ++other)
      EXPECT_EQ(detail::live_mark_of(memory + other) == mark, other == at) << at << ' ' << other;
  }
}

TEST_F(LiveMapTest, ClearsARangeAndNothingBesideIt) {
  std::vector<char*> blocks(64);
  for (int i = 0; i < 100; ++i) deallocate(allocate(48));  // the class is rare no more
  for (char*& block : blocks) block = static_cast<char*>(allocate(48));
  std::sort(blocks.begin(), blocks.end());
  const SizeClass size_class = page_map.find(blocks[0])->size_class.load();
  const std::uintptr_t word = live_word(size_class);
  live_map.clear(size_class, blocks[10], static_cast<std::size_t>(blocks[20] - blocks[10]));
  for (std::size_t i = 0; i < blocks.size(); ++i)
    EXPECT_EQ(detail::is_live(word, blocks[i]), i < 10 || i >= 20) << i;
  for (std::size_t i = 10; i < 20; ++i) detail::begin_live(word, blocks[i]);
  for (char* const block : blocks) deallocate(block);
}

// A chunk's bytes share OS pages with those of its neighbours.
TEST_F(LiveMapTest, GivesAChunkBackAndNotWhatIsBesideIt) {
  constexpr std::size_t kBytes = 200'000;  // each a slab of its own
  std::vector<char*> blocks(64);
  for (char*& block : blocks) block = static_cast<char*>(allocate(kBytes));
  std::vector<char*> small(50'000);
  for (char*& block : small) block = static_cast<char*>(allocate(32));
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (i / 16 % 2 == 0) deallocate(blocks[i]);
  trim();
  for (char* const block : small) EXPECT_TRUE(detail::is_live(word_of(block), block));
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (i / 16 % 2 == 0) continue;
    EXPECT_TRUE(detail::is_live(word_of(blocks[i]), blocks[i]));
    deallocate(blocks[i]);
  }
  for (char* const block : small) deallocate(block);
  trim();
}

TEST_F(LiveMapTest, AClassHasLiveBytesOnceAndUntilItsEnd) {
  const auto size_class = detail::class_of_index(detail::kMostClasses - 1);
  const char* const start = page_map.region(0).start;
  live_map.cover(size_class, 96, start, 960);
  const std::uintptr_t word = live_word(size_class);
  EXPECT_EQ(word & 63, 6u);
  live_map.cover(size_class, 960, start, 960);
  EXPECT_EQ(live_word(size_class), word);
  live_map.end_class(size_class);
  EXPECT_EQ(live_word(size_class), 0u);
  EXPECT_TRUE(detail::end_live(0, &size_class));  // of what cannot be told all may be freed
  live_map.cover(size_class, 100'000, start, 100'000);
  EXPECT_EQ(live_word(size_class) & 63, 9u);
  live_map.end_class(size_class);
}

// Last: it is for the rest of the process.
TEST_F(LiveMapTest, ZEndsForAllClassesAndLiveBlocksCanStillBeFreed) {
  void* const block = allocate(48);
  const SizeClass size_class = page_map.find(block)->size_class.load();
  EXPECT_NE(live_word(size_class), 0u);
  live_map.end();
  EXPECT_EQ(live_word(size_class), 0u);
  deallocate(block);
  live_map.cover(size_class, 48, page_map.region(0).start, 48);
  EXPECT_EQ(live_word(size_class), 0u);
  void* const later = allocate(5000);
  deallocate(later);
}

}  // namespace
}  // namespace tarn::internal
