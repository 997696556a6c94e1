#include "thread/this_thread.h"

#include "support/prelude.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/object_pool.h"

namespace tarn::internal {
namespace {

bool has_records() { return detail::own_cache() != &detail::empty_cache.cache; }

class ThisThread : public ::testing::Test {
 protected:
  void SetUp() override { deallocate(allocate(100)); }
};

TEST_F(ThisThread, TheFirstOfTheProcessHasAHeapAtOnce) {
  EXPECT_NE(this_heap(), nullptr);
  EXPECT_TRUE(has_records());
}

TEST_F(ThisThread, OneThatCallsRarelyHasNone) {
  std::thread([] {
    std::vector<void*> blocks;
    for (int i = 0; i < 20; ++i) blocks.push_back(allocate(100));
    EXPECT_EQ(this_heap(), nullptr);
    for (void* block : blocks) deallocate(block);
  }).join();
}

TEST_F(ThisThread, OneThatCallsOftenGetsOneAndFreesWhatCameBefore) {
  std::thread([] {
    std::vector<void*> blocks;
    for (int i = 0; i < 5000; ++i) blocks.push_back(allocate(100));
    EXPECT_NE(this_heap(), nullptr);
    EXPECT_TRUE(has_records());
    for (void* block : blocks) deallocate(block);
  }).join();
}

TEST_F(ThisThread, AScopeHidesTheRecordsAndShowsThemAgain) {
  Heap heap("scoped");
  {
    const HeapScope scope(heap);
    EXPECT_FALSE(has_records());
    void* const block = allocate(100);
    EXPECT_TRUE(heap.owns(block));
    deallocate(block);
  }
  EXPECT_TRUE(has_records());
}

TEST_F(ThisThread, AHeapMadeInsideOfAScopeStaysHiddenUntilItsEnd) {
  std::thread([] {
    Heap heap("scoped");
    {
      const HeapScope scope(heap);
      attach_this_thread();
      EXPECT_FALSE(has_records());
    }
    EXPECT_TRUE(has_records());
  }).join();
}

}  // namespace
}  // namespace tarn::internal
