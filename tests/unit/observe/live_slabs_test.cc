// Pictures of the general pool, taken in turn.
#include "observe/live_slabs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tarn/memory_pool.h"
#include "tarn/object_pool.h"

namespace tarn::internal {
namespace {

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

}  // namespace
}  // namespace tarn::internal
