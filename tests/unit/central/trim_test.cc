#include "central/trim.h"

#include "unit/central/owner_fixture.h"

namespace tarn::internal {
namespace {

class Trim : public OwnerFixture {
 protected:
  std::size_t trim(TrimDepth depth) {
    ReturnedPages returned;
    os::LockGuard guard(owner.mutex);
    trim_locked(owner, depth, returned);
    return returned.bytes();
  }
};

TEST_F(Trim, LeavesNoSlabWithoutALiveBlock) {
  give_back(owner, take(owner, 3000));
  const std::size_t spare = owner.spare_bytes;
  EXPECT_EQ(trim(TrimDepth::kIdle), spare + kPageBytes);
  EXPECT_EQ(owner.of(kTestClass).totals.slabs, 0u);
  EXPECT_EQ(owner.spare_bytes, 0u);
}

TEST_F(Trim, LeavesSlabsWithLiveBlocks) {
  take(owner, 3);
  EXPECT_EQ(trim(TrimDepth::kAll), 0u);
  EXPECT_EQ(owner.of(kTestClass).totals.slabs, 1u);
}

TEST_F(Trim, TakesWhatWasMadeAheadOfNeedOnlyWhenAskedForAll) {
  {
    os::LockGuard guard(owner.mutex);
    keep_slab(owner, make_slab_locked(owner, kTestClass));
  }
  EXPECT_EQ(trim(TrimDepth::kIdle), 0u);
  EXPECT_EQ(trim(TrimDepth::kAll), kPageBytes);
}

TEST_F(Trim, CollectsWhatOthersFreed) {
  give_back(other, take(owner, 50));
  EXPECT_EQ(trim(TrimDepth::kAll), kPageBytes);
}

TEST_F(Trim, LeavesAnOwnerWhosePoolIsEndingAlone) {
  give_back(owner, take(owner, 3));
  owner.is_ending = true;
  EXPECT_EQ(trim(TrimDepth::kAll), 0u);
  owner.is_ending = false;
  EXPECT_EQ(trim(TrimDepth::kAll), kPageBytes);
}

}  // namespace
}  // namespace tarn::internal
