#include "observe/live_slabs.h"

#include "fault/fault_injection.h"
#include "os/locks/held_locks.h"
#include "os/locks/lock_rank.h"
#include "support/prelude.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/object_pool.h"
#include "tarn/observe.h"

namespace tarn::internal {
namespace {

// -- Pictures of the general pool, taken in turn.

class LiveSlabs : public ::testing::Test {
 protected:
  /// \returns the blocks of all pictures; none may be in two of them.
  std::set<void*> pictured() {
    std::set<void*> blocks;
    picture_count_ = 0;
    names_seen_.clear();
    for (LivePlace place; take_next_picture(place, *picture_, *names_); ++picture_count_) {
      EXPECT_TRUE(std::is_sorted(picture_->begin(), picture_->end())) << "what take_out() needs";
      for (const LiveRun& run : std::as_const(*picture_)) {
        if (is_private_class(run.size_class))
          names_seen_.insert(names_->of(run) == nullptr ? "" : names_->of(run));
        for (unsigned i = 0; i < 64; ++i)
          if ((run.bits >> i & 1) != 0) {
            EXPECT_TRUE(blocks.insert(run.start + i * run.stride).second);
          }
      }
    }
    return blocks;
  }

  std::unique_ptr<LivePicture> picture_ = std::make_unique<LivePicture>();
  std::unique_ptr<PoolNames> names_ = std::make_unique<PoolNames>();
  std::set<std::string> names_seen_;  // "": of a pool that has ended
  int picture_count_ = 0;
};

TEST_F(LiveSlabs, WithoutBlocksNoneIsPictured) {
  EXPECT_TRUE(pictured().empty());
  EXPECT_EQ(picture_count_, 0);
  tarn::deallocate(tarn::allocate(100));
  EXPECT_TRUE(pictured().empty()) << "it is in the magazine";
}

TEST_F(LiveSlabs, SeveralPicturesHaveEachBlockOnce) {
  std::set<void*> blocks;
  for (int i = 0; i < 600'000; ++i) blocks.insert(tarn::allocate(16));
  for (int i = 0; i < 10'000; ++i) blocks.insert(tarn::allocate(16 + i % 5000));
  for (int i = 0; i < 50; ++i) blocks.insert(tarn::allocate(300'000 * (1 + i % 10)));
  EXPECT_EQ(pictured(), blocks);
  EXPECT_GT(picture_count_, 1);
  for (void* const block : blocks) tarn::deallocate(block);
  EXPECT_TRUE(pictured().empty());
}

TEST_F(LiveSlabs, ABlockThatAResizeHasMadeLargerIsPicturedOnce) {
  void* block = tarn::allocate(5 << 20);
  block = tarn::reallocate(block, 9 << 20);
  EXPECT_EQ(pictured(), std::set<void*>{block});
  tarn::deallocate(block);
}

TEST_F(LiveSlabs, NamesThePoolOfAClassUntilItEnds) {
  struct Object {
    char payload[200];
  };
  Object* object = nullptr;
  {
    ObjectPool<Object> pool({.name = "planets", .at_end = AtPoolEnd::kHandOver});
    object = pool.create();
    EXPECT_EQ(pictured(), std::set<void*>{object});
    EXPECT_EQ(names_seen_, std::set<std::string>{"planets"});
  }
  EXPECT_EQ(pictured(), std::set<void*>{object});
  EXPECT_EQ(names_seen_, std::set<std::string>{""});
  tarn::deallocate(object);
}

// -- Visits that are refused memory, and that hold no lock.
// tests/pools/visit_blocks_test.cc has what they visit.

TEST(VisitBlocks, WithoutMemoryForTheWalkVisitNothingAndSaySo) {
  void* const block = tarn::allocate(100);
  Heap heap;
  void* const block_of_heap = heap.allocate(100);
  std::size_t visits = 0;
  const auto count = [&](const LiveBlock&) { ++visits; };
  {
    const test::FaultInjection faults(test::FaultInjection::kind(test::Call::kMap), 0,
                                      test::FaultInjection::Extent::kAllFromThere);
    errno = 0;
    EXPECT_FALSE(visit_blocks(count));
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_FALSE(visit_blocks(heap, count));
  }
  EXPECT_EQ(visits, 0u);
  EXPECT_TRUE(visit_blocks(count));
  EXPECT_EQ(visits, 2u);
  heap.deallocate(block_of_heap);
  tarn::deallocate(block);
}

TEST(VisitBlocks, HoldNoLockDuringAVisit) {
  void* const block = tarn::allocate(100);
  Heap heap;
  void* const block_of_heap = heap.allocate(100);
  std::size_t free_locks = 0;
  EXPECT_TRUE(visit_blocks([&](const LiveBlock&) {
    os::check_no_lock_is_held("during a visit");
    for (os::Mutex* const mutex :
         {&os::global_mutex<os::LockRank::kPoolRegistry>(), &os::global_mutex<os::LockRank::kGiveBack>(),
          &os::global_mutex<os::LockRank::kThreads>()}) {
      if (!mutex->try_lock()) continue;
      mutex->unlock();
      ++free_locks;
    }
  }));
  EXPECT_EQ(free_locks, 2u * 3u);
  heap.deallocate(block_of_heap);
  tarn::deallocate(block);
}

}  // namespace
}  // namespace tarn::internal
