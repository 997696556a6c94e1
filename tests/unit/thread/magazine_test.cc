#include "thread/magazine.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "central/slabs/return_blocks.h"
#include "central/take_blocks.h"
#include "thread/registry.h"
#include "thread/thread_heap.h"

namespace tarn::internal {
namespace {

constexpr SizeClass kClass = class_of_index(10);  // 160 bytes

class MagazineTest : public ::testing::Test {
 protected:
  MagazineTest() : heap(*registry.attach()) { guard.emplace(heap); }
  ~MagazineTest() override {
    validate_locked(heap);
    guard.reset();
    registry.detach(heap);
  }

  void take(void** blocks, std::size_t count) {
    for (std::size_t taken = 0; taken < count;) {
      const auto wanted = static_cast<unsigned>(count - taken);
      const unsigned part = take_blocks_locked(*heap.owner, kClass, blocks + taken, wanted, returned);
      ASSERT_NE(part, 0u);
      taken += part;
    }
  }
  void fill(unsigned count) {
    heap.magazines.made(kClass).misses = 1;  // as by a refill; else the look for idle classes shrinks it
    take(heap.magazines.made(kClass).blocks + 1, count);
    set_record(heap, kClass, count);
  }

  void* on_top() { return *detail::slot_at(heap.cache, heap.record(kClass).top); }

  void prepare_all_magazines(int times) {
    for (const SizeClass size_class : all_classes()) {
      if (is_private_class(size_class)) break;
      heap.magazines.made(size_class).misses = 200;
      for (int i = 0; i < times; ++i) prepare_magazine(heap, size_class);
    }
  }

  ThreadHeap& heap;
  ReturnedPages returned;
  std::optional<HeapGuard> guard;
};

TEST_F(MagazineTest, TheFirstFillsTwoCacheLines) {
  ASSERT_TRUE(prepare_magazine(heap, kClass));
  EXPECT_EQ(heap.magazines.made(kClass).capacity, 15u);
  EXPECT_EQ(count_of(heap, kClass), 0u);
  EXPECT_EQ(heap.magazine_bytes, 15 * std::size_t{class_geometry[kClass].block_bytes});
}

TEST_F(MagazineTest, OneThatGrowsKeepsItsBlocks) {
  prepare_magazine(heap, kClass);
  fill(7);
  void* const top = on_top();
  ASSERT_TRUE(prepare_magazine(heap, kClass));
  EXPECT_EQ(heap.magazines.made(kClass).capacity, 31u);
  EXPECT_EQ(count_of(heap, kClass), 7u);
  EXPECT_EQ(on_top(), top);
}

TEST_F(MagazineTest, OneThatNobodyMissedShrinksWhenItIsEmpty) {
  prepare_magazine(heap, kClass);
  fill(10);
  EXPECT_EQ(shrink_idle_magazine(heap, kClass, 4, returned), 4u);
  EXPECT_EQ(heap.magazines.made(kClass).capacity, 15u);
  EXPECT_EQ(shrink_idle_magazine(heap, kClass, 64, returned), 6u);
  EXPECT_EQ(heap.magazines.made(kClass).capacity, 7u);
}

TEST_F(MagazineTest, OneThatIsDroppedLeavesTheEmptyRecord) {
  prepare_magazine(heap, kClass);
  fill(10);
  drop_magazine_locked(heap, kClass, returned);
  EXPECT_EQ(heap.record(kClass).top, kEmptyRecord.top);
  EXPECT_EQ(heap.magazine_bytes, 0u);
  EXPECT_EQ(heap.owner->taken_bytes, 0u);
}

TEST_F(MagazineTest, AThreadKeepsAtMostItsLimit) {
  prepare_all_magazines(1);
  const std::size_t first_ones = heap.magazine_bytes;
  EXPECT_LE(first_ones, std::size_t{5} << 20);
  prepare_all_magazines(12);
  EXPECT_LE(heap.magazine_bytes, thread_limits.magazine_bytes);
}

TEST_F(MagazineTest, BecomesSmallAfterAPeakAndGrowsAgain) {
  constexpr unsigned kUsual = 1023, kTaken = 60'000;  // 9.6 MB
  std::vector<void*> peak(kTaken);
  take(peak.data(), kTaken);
  for (int i = 0; i < 12; ++i) prepare_magazine(heap, kClass);
  const unsigned largest = heap.magazines.made(kClass).capacity;
  ASSERT_GT(largest, 2 * kUsual);
  fill(largest);
  // A few blocks stay in each slab, so that the slabs do.
  constexpr unsigned kLeft = kTaken / 100;
  for (unsigned i = 0; i < kLeft; ++i) std::swap(peak[i], peak[i * 100]);
  return_blocks(heap.owner, peak.data() + kLeft, kTaken - kLeft, returned);
  for (int flushes = 0; heap.magazines.made(kClass).capacity > kUsual && flushes < 1000; ++flushes) {
    return_newest_blocks(heap, kClass, 64, returned);
    prepare_magazine(heap, kClass);
    validate_locked(heap);
  }
  EXPECT_EQ(heap.magazines.made(kClass).capacity, kUsual);
  take(peak.data() + kLeft, kTaken - kLeft);
  for (int i = 0; i < 12; ++i) prepare_magazine(heap, kClass);
  EXPECT_EQ(heap.magazines.made(kClass).capacity, largest);
  validate_locked(heap);
  return_blocks(heap.owner, peak.data(), kTaken, returned);
}

TEST_F(MagazineTest, OfLargeBlocksABusyClassKeepsMoreThanARareOne) {
  const SizeClass size_class = detail::class_of_bin[detail::bin_of(50000)];
  for (int i = 0; i < 12; ++i) prepare_magazine(heap, size_class);
  const unsigned of_rare = heap.magazines.made(size_class).capacity;
  heap.magazines.made(size_class).misses = 200;
  for (int i = 0; i < 12; ++i) prepare_magazine(heap, size_class);
  EXPECT_GT(heap.magazines.made(size_class).capacity, of_rare);
}

TEST_F(MagazineTest, ManyThreadsKeepLittleEach) {
  const std::uint32_t threads = heaps_in_use.exchange(256);
  prepare_all_magazines(12);
  heaps_in_use = threads;
  // What a magazine begins with, it has whatever the number of threads.
  EXPECT_LE(heap.magazine_bytes, std::size_t{3} << 20);
  drop_magazines_locked(heap, returned);
  prepare_all_magazines(12);
  EXPECT_GT(heap.magazine_bytes, std::size_t{4} << 20);
}

}  // namespace
}  // namespace tarn::internal
