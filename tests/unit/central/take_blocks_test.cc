#include "central/take_blocks.h"

#include <set>

#include "unit/central/owner_fixture.h"

namespace tarn::internal {
namespace {

class TakeBlocks : public OwnerFixture {
 protected:
  unsigned take_at_once(std::vector<void*>& blocks) {
    ReturnedPages returned;
    os::LockGuard guard(owner.mutex);
    return take_blocks_locked(owner, kTestClass, blocks.data(), static_cast<unsigned>(blocks.size()),
                              returned);
  }
  bool has_blocks() {
    ReturnedPages returned;
    os::LockGuard guard(owner.mutex);
    return has_blocks_locked(owner, kTestClass, returned);
  }
};

TEST_F(TakeBlocks, NoneTwice) {
  const std::vector<void*> blocks = take(owner, 5000);
  EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), 5000u);
}

TEST_F(TakeBlocks, AnOwnerHasNoneUntilItHasASlab) {
  EXPECT_FALSE(has_blocks());
  take(owner, 10);
  EXPECT_TRUE(has_blocks()) << "its slab has more";
}

TEST_F(TakeBlocks, AtMostOneNewSlabForACall) {
  std::vector<void*> blocks(5000);
  const unsigned taken = take_at_once(blocks);
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
