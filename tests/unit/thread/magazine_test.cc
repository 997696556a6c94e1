#include "thread/magazine.h"

#include <gtest/gtest.h>

#include "central/take_blocks.h"
#include "thread/registry.h"
#include "thread/thread_heap.h"

namespace tarn::internal {
namespace {

constexpr SizeClass kClass = class_of_index(10);  // 160 bytes

class MagazineTest : public ::testing::Test {
 protected:
  MagazineTest() : heap(*registry.attach()), guard(heap.mutex()) {}
  ~MagazineTest() override {
    validate_locked(heap);
    heap.mutex().unlock();
    registry.detach(heap);
    heap.mutex().lock();  // for the guard
  }

  void fill(unsigned count) {
    heap.magazines[kClass].was_missed = true;  // as by a refill; else the look for idle classes shrinks it
    ASSERT_EQ(take_blocks_locked(heap, kClass, heap.magazines[kClass].blocks + 1, count, returned), count);
    set_record(heap, kClass, count);
  }

  ThreadHeap& heap;
  ReturnedPages returned;
  os::LockGuard guard;
};

TEST_F(MagazineTest, TheFirstFillsTwoCacheLines) {
  ASSERT_TRUE(prepare_magazine(heap, kClass));
  EXPECT_EQ(heap.magazines[kClass].capacity, 15u);
  EXPECT_EQ(count_of(heap, kClass), 0u);
  EXPECT_EQ(heap.magazine_bytes, 15 * std::size_t{class_geometry[kClass].block_bytes});
}

TEST_F(MagazineTest, OneThatGrowsKeepsItsBlocks) {
  prepare_magazine(heap, kClass);
  fill(7);
  void* const top = *heap.record(kClass).top;
  ASSERT_TRUE(prepare_magazine(heap, kClass));
  EXPECT_EQ(heap.magazines[kClass].capacity, 31u);
  EXPECT_EQ(count_of(heap, kClass), 7u);
  EXPECT_EQ(*heap.record(kClass).top, top);
}

TEST_F(MagazineTest, OneThatNobodyMissedShrinksWhenItIsEmpty) {
  prepare_magazine(heap, kClass);
  fill(10);
  EXPECT_EQ(shrink_idle_magazine(heap, kClass, 4, returned), 4u);
  EXPECT_EQ(heap.magazines[kClass].capacity, 15u);
  EXPECT_EQ(shrink_idle_magazine(heap, kClass, 64, returned), 6u);
  EXPECT_EQ(heap.magazines[kClass].capacity, 7u);
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
  for (const SizeClass size_class : kAllClasses) {
    if (is_private_class(size_class)) break;
    for (int i = 0; i < 12; ++i) prepare_magazine(heap, size_class);
  }
  EXPECT_LE(heap.magazine_bytes, thread_limits.magazine_bytes);
}

}  // namespace
}  // namespace tarn::internal
