#include "central/owners.h"

#include "unit/central/owner_fixture.h"

namespace tarn::internal {
namespace {

class OwnersTest : public OwnerFixture {};

TEST_F(OwnersTest, ASlabOfAnOrphanIsAdoptedWhole) {
  const std::vector<void*> blocks = take(owner, 20);
  Span* const slab = slab_of(blocks[0]);
  end(owner);
  Span* adopted = nullptr;
  {
    os::LockGuard guard(other.mutex);
    adopted = owners.adopt_slab(other, kTestClass);
  }
  EXPECT_EQ(adopted, slab);
  EXPECT_EQ(slab->owner.load(), &other);
  EXPECT_EQ(owner.taken_bytes, 0u);
  EXPECT_EQ(other.taken_bytes, 20 * slab->stride);
}

TEST_F(OwnersTest, ASlabOfAThreadThatLivesIsNotAdopted) {
  take(owner, 20);
  os::LockGuard guard(other.mutex);
  EXPECT_EQ(owners.adopt_slab(other, kTestClass), nullptr);
}

TEST_F(OwnersTest, AnOrphanThatIsUsedAgainIsNoneAnyMore) {
  const std::uint32_t in_use = owners_in_use;
  take(owner, 20);
  end(owner);
  EXPECT_EQ(owners_in_use, in_use - 1);
  {
    os::LockGuard guard(owners.mutex());
    owners.begin_use_locked(owner);
  }
  EXPECT_EQ(owners_in_use, in_use);
  os::LockGuard guard(other.mutex);
  EXPECT_EQ(owners.adopt_slab(other, kTestClass), nullptr);
}

TEST_F(OwnersTest, AnOwnerThatAThreadStillUsesIsNoOrphan) {
  owner.threads = 2;
  take(owner, 20);
  const std::uint32_t in_use = owners_in_use;
  for (unsigned threads : {1u, 0u}) {
    owner.threads = threads;
    os::LockGuard guard(owners.mutex());
    owners.end_use_locked(owner);
    EXPECT_EQ(owner.is_orphan, threads == 0);
  }
  EXPECT_EQ(owners_in_use, in_use - 1);
  os::LockGuard guard(other.mutex);
  EXPECT_NE(owners.adopt_slab(other, kTestClass), nullptr);
}

TEST_F(OwnersTest, AnIdleOwnerIsTrimmedAtTheSecondLook) {
  give_back(owner, take(owner, 2000));
  owner.slow_calls = 7;
  EXPECT_FALSE(owners.trim_idle());
  EXPECT_NE(owner.of(kTestClass).totals.slabs, 0u);
  owners.trim_idle();
  EXPECT_EQ(owner.of(kTestClass).totals.slabs, 0u);
  EXPECT_TRUE(owner.is_trimmed);
}

TEST_F(OwnersTest, AWalkSeesEachOwnerOnce) {
  unsigned seen = 0, shared = 0;
  owners.for_each([&](SlabOwner& visited) {
    seen += &visited == &owner || &visited == &other;
    shared += &visited == &owners.shared();
  });
  EXPECT_EQ(seen, 2u);
  EXPECT_EQ(shared, 1u);
}

}  // namespace
}  // namespace tarn::internal
