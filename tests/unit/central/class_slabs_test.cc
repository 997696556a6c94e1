#include "central/class_slabs.h"

#include "unit/central/owner_fixture.h"

namespace tarn::internal {
namespace {

class ClassSlabs : public OwnerFixture {
 protected:
  Span* make() {
    os::LockGuard guard(owner.mutex);
    return make_slab_locked(owner, kTestClass);
  }
};

TEST_F(ClassSlabs, AFreshOneIsCountedAndListed) {
  Span* const slab = make();
  ASSERT_NE(slab, nullptr);
  EXPECT_EQ(owner.totals[kTestClass].slabs, 1u);
  EXPECT_EQ(owner.totals[kTestClass].blocks, slab->block_count);
  EXPECT_EQ(owner.available[kTestClass].first(), slab);
}

TEST_F(ClassSlabs, TheLastOfAClassStaysWhenItIsEmpty) {
  Span* const slab = slab_of(take(owner, 1)[0]);
  give_back(owner, {slab->start});
  EXPECT_EQ(owner.totals[kTestClass].slabs, 1u);
  EXPECT_EQ(slab->free_count, slab->block_count);
}

TEST_F(ClassSlabs, AnEmptyOneBesideOthersBecomesASpareOfAnyClass) {
  const std::vector<void*> blocks = take(owner, 2000);
  give_back(owner, blocks);
  EXPECT_EQ(owner.totals[kTestClass].slabs, 1u);
  const std::size_t spare = owner.spare_bytes;
  EXPECT_GT(spare, 0u);
  take(owner, 1, class_of_index(20));
  EXPECT_EQ(owner.spare_bytes, spare - kPageBytes);
}

TEST_F(ClassSlabs, AnOrphanKeepsNoSpares) {
  const std::vector<void*> blocks = take(owner, 2000);
  end(owner);
  give_back(owner, blocks);
  EXPECT_EQ(owner.spare_bytes, 0u);
}

TEST_F(ClassSlabs, SparesAreEndedDownToALimit) {
  give_back(owner, take(owner, 4000));
  ASSERT_GT(owner.spare_bytes, 2 * kPageBytes);
  ReturnedPages returned;
  os::LockGuard guard(owner.mutex);
  end_spare_slabs(owner, 2 * kPageBytes, returned);
  EXPECT_EQ(owner.spare_bytes, 2 * kPageBytes);
}

TEST_F(ClassSlabs, OneThatMovesTakesItsBlocksAlong) {
  const std::vector<void*> blocks = take(owner, 10);
  Span* const slab = slab_of(blocks[0]);
  {
    os::LockGuard guard(owner.mutex);
    ASSERT_TRUE(other.mutex.try_lock());  // a second owner's is only ever tried
    move_slab(owner, other, slab);
    other.mutex.unlock();
  }
  EXPECT_EQ(owner.totals[kTestClass].slabs, 0u);
  EXPECT_EQ(other.totals[kTestClass].slabs, 1u);
  EXPECT_EQ(other.taken_bytes, 10 * slab->stride);
}

TEST_F(ClassSlabs, OneMadeAheadOfNeedIsNotRetired) {
  Span* const slab = make();
  slab->is_kept = true;
  ReturnedPages returned;
  os::LockGuard guard(owner.mutex);
  retire_empty_slab(owner, kTestClass, returned);
  EXPECT_EQ(owner.totals[kTestClass].slabs, 1u);
  slab->is_kept = false;
  retire_empty_slab(owner, kTestClass, returned);
  EXPECT_EQ(owner.totals[kTestClass].slabs, 0u);
}

}  // namespace
}  // namespace tarn::internal
