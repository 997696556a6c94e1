#include "central/take_blocks.h"

#include <set>

#include "unit/central/owner_fixture.h"

namespace tarn::internal {
namespace {

class TakeBlocks : public OwnerFixture {
 protected:
  unsigned take_at_once(std::vector<void*>& blocks, Growth growth) {
    ReturnedPages returned;
    os::LockGuard guard(owner.mutex);
    return take_blocks_locked(owner, kTestClass, blocks.data(), static_cast<unsigned>(blocks.size()), growth,
                              returned);
  }
};

TEST_F(TakeBlocks, NoneTwice) {
  const std::vector<void*> blocks = take(owner, 5000);
  EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), 5000u);
}

TEST_F(TakeBlocks, NothingWithoutGrowthWhenThereIsNoSlab) {
  std::vector<void*> blocks(10);
  EXPECT_EQ(take_at_once(blocks, Growth::kNone), 0u);
  EXPECT_EQ(take_at_once(blocks, Growth::kAllowed), 10u);
  EXPECT_EQ(take_at_once(blocks, Growth::kNone), 10u) << "its slab has more";
}

TEST_F(TakeBlocks, AtMostOneNewSlabForACall) {
  std::vector<void*> blocks(5000);
  const unsigned taken = take_at_once(blocks, Growth::kAllowed);
  EXPECT_EQ(taken, slab_of(blocks[0])->block_count);
}

TEST_F(TakeBlocks, WhatOthersGaveBackBeforeANewSlab) {
  const std::uint32_t count = [&] {
    std::vector<void*> first = take(owner, 1);
    return slab_of(first[0])->block_count - 1u;
  }();
  const std::vector<void*> rest = take(owner, count);
  give_back(other, rest);
  const std::uint64_t made = owner.counters.slabs_made;
  take(owner, count);
  EXPECT_EQ(owner.counters.slabs_made, made);
}

TEST_F(TakeBlocks, AnOrphansSlabBeforeANewOne) {
  take(other, 3);
  end(other);
  take(owner, 3);
  EXPECT_EQ(owner.counters.slabs_made, 0u);
}

}  // namespace
}  // namespace tarn::internal
