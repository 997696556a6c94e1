#include "central/slabs/class_slabs.h"

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
  EXPECT_EQ(owner.of(kTestClass).totals.slabs, 1u);
  EXPECT_EQ(owner.of(kTestClass).totals.blocks, slab->block_count);
  EXPECT_EQ(owner.of(kTestClass).available.first(), slab);
}

TEST_F(ClassSlabs, TheLastOfAClassStaysWhenItIsEmpty) {
  Span* const slab = slab_of(take(owner, 1)[0]);
  give_back(owner, {slab->start});
  EXPECT_EQ(owner.of(kTestClass).totals.slabs, 1u);
  EXPECT_EQ(slab->free_count, slab->block_count);
}

TEST_F(ClassSlabs, AnEmptyOneBesideOthersBecomesASpareOfAnyClass) {
  const std::vector<void*> blocks = take(owner, 2000);
  give_back(owner, blocks);
  EXPECT_EQ(owner.of(kTestClass).totals.slabs, 1u);
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

/// Two slabs of a class with all their blocks in use.
class TwoFullSlabs : public ClassSlabs {
 protected:
  TwoFullSlabs() {
    const unsigned count = blocks_in(class_geometry[kTestClass], PageCount{1});
    for (std::vector<void*>& slab : blocks) slab = take(owner, count);
  }
  void free_of(unsigned slab, std::size_t count) {
    give_back(owner, {blocks[slab].end() - static_cast<std::ptrdiff_t>(count), blocks[slab].end()});
    blocks[slab].resize(blocks[slab].size() - count);
  }
  bool next_is_of(unsigned slab) { return slab_of(take(owner, 1)[0]) == slab_of(blocks[slab][0]); }

  std::vector<void*> blocks[2];
};

TEST_F(TwoFullSlabs, TheOneUsedByHalfIsTakenFromFirst) {
  const std::size_t quarter = blocks[0].size() / 4;
  free_of(0, 3 * quarter);
  free_of(1, quarter);
  EXPECT_TRUE(next_is_of(1));
}

TEST_F(TwoFullSlabs, OneThatBecomesEmptierGoesBehind) {
  const std::size_t quarter = blocks[0].size() / 4;
  free_of(1, quarter);
  free_of(0, quarter);
  EXPECT_TRUE(next_is_of(0));
  for (std::size_t i = 0; i < quarter; ++i) free_of(0, 2);
  EXPECT_TRUE(next_is_of(1));
}

TEST_F(TwoFullSlabs, OneThatFillsAgainStaysInFront) {
  const std::size_t quarter = blocks[0].size() / 4;
  free_of(0, 3 * quarter);
  take(owner, static_cast<unsigned>(2 * quarter));
  free_of(1, 3 * quarter);
  EXPECT_TRUE(next_is_of(0));
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
  EXPECT_EQ(owner.of(kTestClass).totals.slabs, 0u);
  EXPECT_EQ(other.of(kTestClass).totals.slabs, 1u);
  EXPECT_EQ(other.taken_bytes, 10 * slab->stride);
}

TEST_F(ClassSlabs, OneMadeAheadOfNeedIsNotRetired) {
  Span* const slab = make();
  keep_slab(owner, slab);
  ReturnedPages returned;
  os::LockGuard guard(owner.mutex);
  retire_empty_slab(owner, kTestClass, returned);
  EXPECT_EQ(owner.of(kTestClass).totals.slabs, 1u);
  keep_no_longer(owner, slab);
  retire_empty_slab(owner, kTestClass, returned);
  EXPECT_EQ(owner.of(kTestClass).totals.slabs, 0u);
}

}  // namespace
}  // namespace tarn::internal
