#include "central/slabs/remote_free.h"

#include "unit/central/owner_fixture.h"

namespace tarn::internal {
namespace {

class RemoteFree : public OwnerFixture {
 protected:
  bool collect(SlabOwner& by) {
    ReturnedPages returned;
    os::LockGuard guard(by.mutex);
    return collect_pending_locked(by, kTestClass, returned);
  }
};

TEST_F(RemoteFree, BlocksComeBackWhenTheirOwnerCollects) {
  const std::vector<void*> blocks = take(owner, 20);
  Span* const slab = slab_of(blocks[0]);
  const std::uint32_t free_before = slab->free_count;
  give_back(other, blocks);
  EXPECT_EQ(slab->free_count, free_before) << "until the owner collects";
  EXPECT_TRUE(collect(owner));
  EXPECT_EQ(slab->free_count, free_before + 20);
  EXPECT_EQ(owner.taken_bytes, 0u);
}

TEST_F(RemoteFree, BlocksOfAnOrphanAreCollectedByTheFreer) {
  const std::vector<void*> blocks = take(owner, 20), kept = take(owner, 1);
  Span* const slab = slab_of(blocks[0]);
  end(owner);
  const std::uint32_t free_before = slab->free_count;
  give_back(other, blocks);
  EXPECT_EQ(slab->free_count, free_before + 20);
}

TEST_F(RemoteFree, AnOwnerThatDoesNotCollectIsHelped) {
  std::vector<void*> one_of_each_slab;
  const std::vector<void*> blocks = take(owner, 30000);
  const Span* last = nullptr;
  for (void* block : blocks)
    if (const Span* const slab = slab_of(block); slab != last) last = slab, one_of_each_slab.push_back(block);
  ASSERT_GT(one_of_each_slab.size(), 70u);
  give_back(other, one_of_each_slab);
  EXPECT_LE(owner.pending_count.load(), 65u);
}

TEST_F(RemoteFree, AnAnnouncementOfASlabThatWasAdoptedIsPassedOn) {
  const std::vector<void*> blocks = take(owner, 20);
  Span* const slab = slab_of(blocks[0]);
  const std::uint32_t free_before = slab->free_count;
  SlabOwner& third = begin();
  give_back(third, blocks);  // announced to the owner
  {
    os::LockGuard guard(owner.mutex);
    ASSERT_TRUE(other.mutex.try_lock());  // a second owner's is only ever tried
    move_slab(owner, other, slab);
    other.mutex.unlock();
  }
  EXPECT_FALSE(collect(owner)) << "the slab is another's now";
  EXPECT_TRUE(collect(other));
  EXPECT_EQ(slab->free_count, free_before + 20);
}

}  // namespace
}  // namespace tarn::internal
