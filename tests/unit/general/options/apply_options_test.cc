// What a change of an option does while the program runs. Each test runs in a process of its own.
#include "general/options/apply_options.h"

#include "general/options/setup.h"
#include "page/give_back/background.h"
#include "page/give_back/page_cache.h"
#include "page/spans/page_map.h"
#include "support/invariants.h"
#include "support/prelude.h"
#include "support/sanitizer.h"
#include "support/wait.h"
#include "tarn/memory_pool.h"
#include "tarn/options.h"
#include "tarn/stats.h"
#include "thread/registry.h"
#include "unit/thread/heap_calls.h"

namespace tarn::internal {
namespace {

void set(const char* key, const char* value) {
  ASSERT_EQ(tarn::set_option(key, value), OptionResult::kSet) << key;
}

/// Takes and frees `bytes` in blocks of a size.
void use(std::size_t bytes, std::size_t block_bytes) {
  std::vector<void*> blocks;
  for (std::size_t used = 0; used < bytes; used += block_bytes) blocks.push_back(tarn::allocate(block_bytes));
  for (void* const block : blocks) tarn::deallocate(block);
}

class ApplyOptions : public ::testing::Test {
 protected:
  void SetUp() override { set_up_once(); }
  void TearDown() override { test::validate_library(); }

  /// Leaves free memory in the page cache, in slabs and at the thread, and no thread that gives it back.
  static void leave_free_memory() {
    set("background", "off");
    set("decay", "3600s");
    use(4 << 20, 100);
    use(4 << 20, 40000);
    use(16 << 20, 16 << 20);
    ASSERT_GT(page_cache.dirty_bytes(), std::size_t{1} << 20);
  }
};

TEST_F(ApplyOptions, ADecayOfZeroGivesBackWhatIsFreeAndKeepsNoMore) {
  leave_free_memory();
  set("decay", "0");
  EXPECT_EQ(page_cache.dirty_bytes(), 0u);
  EXPECT_EQ(tarn::stats().free_dirty_bytes, 0u);
  for (int i = 0; i < 3; ++i) {
    use(4 << 20, 1 << 20);
    EXPECT_EQ(page_cache.dirty_bytes(), 0u) << "also what the program asks for again";
  }
}

TEST_F(ApplyOptions, AfterADecayOfZeroMemoryCanBeKeptAgain) {
  leave_free_memory();
  set("decay", "0");
  set("decay", "3600s");
  use(16 << 20, 16 << 20);
  EXPECT_GT(page_cache.dirty_bytes(), 0u);
}

TEST_F(ApplyOptions, ALowerThresholdGivesTheExcessBack) {
  leave_free_memory();
  set("free_page_threshold", "256K");
  EXPECT_LE(page_cache.dirty_bytes(), std::size_t{256} << 10);
}

TEST_F(ApplyOptions, AHigherThresholdKeepsMore) {
  set("background", "off");
  set("decay", "3600s");
  set("free_page_threshold", "64M");
  std::vector<void*> blocks;
  for (int i = 0; i < 3; ++i) blocks.push_back(tarn::allocate(std::size_t{16} << 20));
  for (void* const block : blocks) tarn::deallocate(block);
  EXPECT_GE(page_cache.dirty_bytes(), std::size_t{48} << 20);
  set("free_page_threshold", "8M");
  EXPECT_LE(page_cache.dirty_bytes(), std::size_t{8} << 20);
}

TEST_F(ApplyOptions, AThresholdCountsOnlyWhileADecayTimeKeepsMemory) {
  leave_free_memory();
  set("decay", "0");
  set("free_page_threshold", "64M");
  use(4 << 20, 1 << 20);
  EXPECT_EQ(page_cache.dirty_bytes(), 0u);
}

TEST_F(ApplyOptions, AThreadKeepsToASmallerCacheAtItsNextMiss) {
  if (test::kSanitizer) GTEST_SKIP() << "a sanitizer's build keeps freed blocks apart";
  use(4 << 20, 1000);
  const ThreadHeap& heap = *this_heap();
  ASSERT_GT(heap.magazine_bytes, std::size_t{512} << 10);
  const std::size_t before = heap.magazine_bytes;
  set("thread_cache", "64K");
  EXPECT_EQ(heap.magazine_bytes, before) << "the thread's own, until it calls";
  tarn::deallocate(tarn::allocate(20000));
  EXPECT_LE(heap.magazine_bytes, std::size_t{64} << 10);
  use(4 << 20, 1000);
  EXPECT_LE(heap.magazine_bytes, std::size_t{96} << 10) << "the limit and first magazines";
  set("thread_cache", "8M");
  use(4 << 20, 1000);
  EXPECT_GT(heap.magazine_bytes, std::size_t{512} << 10) << "it grows again";
}

TEST_F(ApplyOptions, AllOwnersLearnHowMuchAThreadMayKeep) {
  set("thread_cache", "8M");
  Attached before;
  set("thread_cache", "1M");
  EXPECT_EQ(before.heap().home->kept_limit_bytes, std::size_t{1} << 20);
  Attached after;
  EXPECT_EQ(after.heap().home->kept_limit_bytes, std::size_t{1} << 20);
}

TEST_F(ApplyOptions, AThreadRunsWhileTheOptionIsOn) {
  set("decay", "3600s");
  const auto free_much = [] { tarn::deallocate(tarn::allocate(32 << 20)); };
  free_much();
  EXPECT_FALSE(background.has_thread());
  set("background", "on");
  free_much();
  EXPECT_TRUE(background.has_thread());
  set("background", "off");
  EXPECT_TRUE(test::comes_true([] { return !background.has_thread(); }));
  free_much();
  EXPECT_FALSE(background.has_thread());
}

TEST_F(ApplyOptions, AThreadThatSleepsForALongDecayTimeSeesAShortOne) {
  set("background", "on");
  set("decay", "3600s");
  use(6 << 20, 6 << 20);
  use(16 << 20, 16 << 20);
  ASSERT_TRUE(background.has_thread());
  ASSERT_GT(page_cache.dirty_bytes(), 0u);
  set("decay", "10ms");
  EXPECT_TRUE(test::comes_true([] { return page_cache.dirty_bytes() == 0; }));
}

// The chunks of a block of two chunks that was made after the value was set.
std::vector<Density> densities_of_a_new_block(const char* huge_pages, std::vector<void*>& blocks) {
  set("huge_pages", huge_pages);
  const std::uint32_t first = page_map.region_count() == 0 ? 0 : page_map.region(0).committed_chunks;
  blocks.push_back(tarn::allocate(6 * kChunkBytes));
  std::vector<Density> densities;
  for (std::uint32_t i = first; i < page_map.region(0).committed_chunks; ++i)
    densities.push_back(page_map.region(0).chunks[i].density);
  return densities;
}

TEST_F(ApplyOptions, HugePagesAreAskedForAsTheOptionSaysNow) {
  std::vector<void*> blocks;
  for (const Density density : densities_of_a_new_block("never", blocks))
    EXPECT_EQ(density, Density::kSparse);
  for (const Density density : densities_of_a_new_block("always", blocks))
    EXPECT_EQ(density, Density::kDense);
  for (const Density density : densities_of_a_new_block("never", blocks))
    EXPECT_EQ(density, Density::kSparse);
  EXPECT_FALSE(page_cache.uses_huge_pages(SIZE_MAX / 2));
  set("huge_page_threshold", "0");
  EXPECT_FALSE(page_cache.uses_huge_pages()) << "a threshold counts under auto alone";
  set("huge_pages", "auto");
  EXPECT_TRUE(page_cache.uses_huge_pages());
  set("huge_page_threshold", "1G");
  EXPECT_FALSE(page_cache.uses_huge_pages());
  for (void* const block : blocks) tarn::deallocate(block);
}

TEST_F(ApplyOptions, ThreadsThatBeginLaterShareSlabsAsTheOptionSaysNow) {
  set("share_slabs", "never");
  Attached alone[3];
  EXPECT_NE(alone[0].heap().home, alone[1].heap().home);
  set("share_slabs", "always");
  Attached sharing[3];
  for (Attached& thread : sharing) {
    EXPECT_TRUE(thread.heap().home == alone[0].heap().home || thread.heap().home == alone[1].heap().home ||
                thread.heap().home == alone[2].heap().home || thread.heap().home == sharing[0].heap().home);
  }
  EXPECT_EQ(owners_in_use.load(), 3u);
  set("share_slabs", "never");
  Attached own;
  EXPECT_EQ(own.heap().home->threads.load(), 1u);
}

// More owners than any value allows to share: those of threads beyond cannot be found, and need not.
TEST_F(ApplyOptions, ThreadsOfWhichEachHadAnOwnerMayBeFollowedByThreadsThatShare) {
  set("share_slabs", "never");
  std::vector<std::unique_ptr<Attached>> threads;
  for (std::uint32_t i = 0; i < Registry::kMostShared + 40; ++i)
    threads.push_back(std::make_unique<Attached>());
  set("share_slabs", "always");
  for (std::uint32_t i = 0; i < 2 * Registry::kMostShared + 40; ++i) {
    threads.push_back(std::make_unique<Attached>());
    ThreadHeap& heap = threads.back()->heap();
    const SizeClass size_class = class_of_index(10);
    give_back(heap, take_block(heap, size_class), size_class);
  }
  EXPECT_EQ(owners_in_use.load(), Registry::kMostShared + 40);
  registry.validate();
}

}  // namespace
}  // namespace tarn::internal
