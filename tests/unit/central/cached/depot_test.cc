#include "central/cached/depot.h"

#include "central/slabs/put_right.h"
#include "central/slabs/return_blocks.h"
#include "central/trim.h"
#include "page/give_back/page_cache.h"
#include "page/spans/page_map.h"
#include "unit/central/owner_fixture.h"

namespace tarn::internal {
namespace {

class DepotTest : public OwnerFixture {
 protected:
  static constexpr std::size_t kParkedBytes = 160 + sizeof(void*);  // of a block, with its place in the depot
  static constexpr std::size_t kOwnSlabBytes = 48 * 1024;
  static inline const SizeClass kOwnSlabClass = class_of_size(kOwnSlabBytes);

  DepotTest() {
    while (owner.depot.load() == nullptr) may_park(owner, kTestClass);
    may_park(owner, kTestClass);  // the first flush that the depot sees
  }
  ~DepotTest() override {
    ReturnedPages returned;
    for (SlabOwner* each : {&owner, &other}) {
      os::LockGuard guard(each->mutex);
      limit_parked(*each, 0, UINT32_MAX, returned);
      EXPECT_EQ(parked_bytes(*each), 0u);
    }
  }

  Parked& parked_of(SizeClass size_class) { return owner.depot.load()->of()[owner.place_of(size_class)]; }
  Parked& parked() { return parked_of(kTestClass); }
  /// As if threads had asked for many blocks before.
  bool park_all(const std::vector<void*>& blocks, SizeClass size_class = kTestClass) {
    parked_of(size_class).needed = 10'000;
    return park_some(blocks, size_class);
  }
  /// As full magazines do it: what finds no room returns to the slabs. \returns whether all found room.
  bool park_some(const std::vector<void*>& blocks, SizeClass size_class = kTestClass) {
    ReturnedPages returned;
    os::LockGuard guard(owner.mutex);
    bool are_parked = true;
    for (std::size_t at = 0; at < blocks.size(); at += 64) {
      const auto count = static_cast<unsigned>(std::min<std::size_t>(64, blocks.size() - at));
      if (park(owner, size_class, blocks.data() + at, count, returned)) continue;
      are_parked = false;
      return_blocks(&owner, blocks.data() + at, count, returned);
    }
    return are_parked;
  }
  std::vector<void*> unpark_some(unsigned wanted) {
    std::vector<void*> blocks(wanted);
    os::LockGuard guard(owner.mutex);
    blocks.resize(unpark(owner, kTestClass, blocks.data(), wanted));
    return blocks;
  }
};

TEST_F(DepotTest, BlocksComeBackInTheirOrder) {
  const std::vector<void*> blocks = take(owner, 300);
  ASSERT_TRUE(park_all(blocks));
  check(owner);
  std::vector<void*> back;
  for (unsigned wanted : {1u, 62u, 64u, 100u, 500u}) {
    const std::vector<void*> part = unpark_some(wanted);
    back.insert(back.begin(), part.begin(), part.end());
    check(owner);
  }
  EXPECT_EQ(back, blocks);
  EXPECT_EQ(parked_bytes(owner), 0u);
  give_back(owner, back);
}

TEST_F(DepotTest, AnEmptyOneHasNothing) {
  EXPECT_TRUE(unpark_some(10).empty());
  ReturnedPages returned;
  os::LockGuard guard(owner.mutex);
  EXPECT_EQ(return_parked(owner, kTestClass, 10, returned), 0u);
  EXPECT_FALSE(limit_parked(owner, 0, 10, returned));
}

TEST_F(DepotTest, HasRoomForWhatWasRefusedAndAskedForAgain) {
  EXPECT_FALSE(park_some(take(owner, 640)));
  EXPECT_EQ(parked_count(owner, kTestClass), 64u) << "little before threads have asked";
  EXPECT_EQ(unpark_some(640).size(), 64u);
  EXPECT_TRUE(park_some(take(owner, 640)));
}

TEST_F(DepotTest, HasRoomForWhatIsAskedForAtATimeHoweverOften) {
  for (int i = 0; i < 20; ++i) {
    const bool has_room = park_some(take(owner, 100));
    EXPECT_EQ(has_room, i != 0);
    EXPECT_EQ(unpark_some(100).size(), has_room ? 100u : 64u);
  }
  EXPECT_EQ(parked().asked, 100u);
}

TEST_F(DepotTest, ThreadsThatOnlyAskOrOnlyFreeGetNoRoom) {
  unpark_some(640);
  EXPECT_FALSE(park_some(take(owner, 640)));
  EXPECT_FALSE(park_some(take(owner, 640)));
  EXPECT_EQ(parked_count(owner, kTestClass), 64u);
}

TEST_F(DepotTest, ReturnsWhatNobodyNeededBetweenTwoLooks) {
  ASSERT_TRUE(park_all(take(owner, 640)));
  const auto look = [&] {
    ReturnedPages returned;
    os::LockGuard guard(owner.mutex);
    look_at_depot(owner);
    while (return_surplus(owner, 100, returned)) {
    }
    return parked_count(owner, kTestClass);
  };
  {
    os::LockGuard guard(owner.mutex);
    look_at_depot(owner);
    parked().needed = 640;
  }
  ASSERT_TRUE(park_some(unpark_some(200)));
  ASSERT_TRUE(park_some(unpark_some(150)));
  EXPECT_EQ(look(), 200u) << "no more were needed at a time";
  EXPECT_EQ(look(), 0u);
  check(owner);
}

TEST_F(DepotTest, BlocksThatComeAndGoBetweenTwoLooksKeepTheirRoom) {
  const auto look = [&] {
    os::LockGuard guard(owner.mutex);
    look_at_depot(owner);
    return parked().needed;
  };
  ASSERT_TRUE(park_all(take(owner, 640)));
  const std::vector<void*> blocks = unpark_some(640);
  EXPECT_EQ(look(), 640u);
  for (int period = 0; period < 3; ++period) {
    ASSERT_TRUE(park_some(blocks)) << "the depot was empty at the look";
    ASSERT_EQ(unpark_some(640).size(), 640u);
    EXPECT_EQ(look(), 640u);
  }
  give_back(owner, blocks);
}

TEST_F(DepotTest, OneFlushInSixteenOfABusyClassReturnsItsBlocks) {
  os::LockGuard guard(owner.mutex);
  int first = 0;
  while (!may_park(owner, kTestClass)) ++first;
  EXPECT_GT(first, 20) << "a class that is rarely flushed parks nothing";
  int parked = 0;
  for (int i = 0; i < 1600; ++i) parked += may_park(owner, kTestClass);
  EXPECT_EQ(parked, 1500);
  look_at_depot(owner);
  EXPECT_FALSE(may_park(owner, kTestClass)) << "it must show again that it is busy";
}

TEST_F(DepotTest, HasNoRoomBeyondTheLimitOfItsOwner) {
  owner.kept_limit_bytes = 64 * kParkedBytes;
  const std::vector<void*> blocks = take(owner, 65);
  EXPECT_FALSE(park_all(blocks));
  EXPECT_EQ(parked_bytes(owner), 64 * kParkedBytes);
}

TEST_F(DepotTest, HasNoRoomAfterAPeakSoThatBlocksComeFromTheFullestSlabs) {
  page_cache.configure({0, SIZE_MAX, std::size_t{1} << 30});  // free memory is too much
  const std::vector<void*> peak = take(owner, 20'000);
  std::vector<void*> left, gone;
  for (std::size_t i = 0; i < peak.size(); ++i) (i % 16 == 0 ? left : gone).push_back(peak[i]);
  ASSERT_TRUE(park_all({gone.begin(), gone.begin() + 64}));
  give_back(owner, {gone.begin() + 64, gone.end()});
  EXPECT_FALSE(park_all({left.begin(), left.begin() + 64}));
  give_back(owner, {left.begin() + 64, left.end()});
}

TEST_F(DepotTest, HasRoomAfterAPeakForBlocksThatKeepNoPageButTheirOwn) {
  page_cache.configure({0, SIZE_MAX, std::size_t{1} << 30});
  const std::vector<void*> peak = take(owner, 20'000), large = take(owner, 16, kOwnSlabClass);
  std::vector<void*> left, gone;
  for (std::size_t i = 0; i < peak.size(); ++i) (i % 16 == 0 ? left : gone).push_back(peak[i]);
  give_back(owner, gone);
  ASSERT_TRUE(is_past_its_peak_with_parked(owner));
  EXPECT_TRUE(park_all(large, kOwnSlabClass));
  EXPECT_EQ(parked_bytes(owner), 16 * kOwnSlabBytes);
  EXPECT_EQ(parked_in_shared_slabs(owner), 0u);
  give_back(owner, left);
}

TEST_F(DepotTest, APeakIsSeenAsIfBlocksThatAreParkedWithTheirOwnSlabsWereNotThere) {
  page_cache.configure({0, SIZE_MAX, std::size_t{1} << 30});
  const std::vector<void*> peak = take(owner, 20'000);
  ASSERT_TRUE(park_all(take(owner, 300, kOwnSlabClass), kOwnSlabClass));
  EXPECT_EQ(parked_in_own_slabs(owner).pages, 300 * kPageBytes);
  EXPECT_FALSE(is_past_its_peak_with_parked(owner)) << "the unused ends of their pages are not waste";
  std::vector<void*> left, gone;
  for (std::size_t i = 0; i < peak.size(); ++i) (i % 16 == 0 ? left : gone).push_back(peak[i]);
  give_back(owner, gone);
  EXPECT_TRUE(is_past_its_peak_with_parked(owner)) << "they are not in use";
  EXPECT_FALSE(park_all({left.begin(), left.begin() + 64}));
  give_back(owner, {left.begin() + 64, left.end()});
  check(owner);
}

TEST_F(DepotTest, BlocksWithTheirOwnSlabsHaveALimitOfTheirOwn) {
  owner.kept_limit_bytes = 32 * kOwnSlabBytes;
  EXPECT_TRUE(park_all(take(owner, 64, kOwnSlabClass), kOwnSlabClass));
  EXPECT_FALSE(park_all(take(owner, 1, kOwnSlabClass), kOwnSlabClass));
  EXPECT_TRUE(park_all(take(owner, 64))) << "of shared slabs";
  EXPECT_EQ(parked_bytes(owner), 64 * (kOwnSlabBytes + kParkedBytes));
  owner.kept_limit_bytes = std::size_t{8} << 20;
  end(owner);
  EXPECT_FALSE(park_all(take(other, 1, kOwnSlabClass), kOwnSlabClass)) << "nobody asks an orphan";
}

TEST_F(DepotTest, IsEmptiedOfEveryClassAndInStepsThatCostAsMuchForEach) {
  ASSERT_TRUE(park_all(take(owner, 64)) && park_all(take(owner, 200, kOwnSlabClass), kOwnSlabClass));
  ReturnedPages returned;
  os::LockGuard guard(owner.mutex);
  EXPECT_TRUE(limit_parked(owner, 0, 64 + 32 * 16, returned));
  EXPECT_EQ(parked_count(owner, kTestClass), 0u);
  EXPECT_EQ(parked_count(owner, kOwnSlabClass), 200u - 32);
  EXPECT_FALSE(limit_parked(owner, 0, UINT32_MAX, returned));
}

TEST_F(DepotTest, ACallThatNeverReturnedLosesWhatItsClassHadParked) {
  const std::vector<void*> blocks = take(owner, 20, kOwnSlabClass);
  ASSERT_TRUE(park_all(blocks, kOwnSlabClass) && park_all(take(owner, 64)));
  ReturnedPages returned;
  os::LockGuard guard(owner.mutex);
  parked_of(kOwnSlabClass).mutex.lock();
  parked_of(kOwnSlabClass).count += 5;  // and not yet the sums
  put_right_locked(owner);
  EXPECT_EQ(parked_count(owner, kOwnSlabClass), 0u);
  EXPECT_EQ(parked_bytes(owner), 64 * kParkedBytes);
  validate_locked(owner);
  return_blocks(&owner, blocks.data(), 20, returned);
}

TEST_F(DepotTest, ReturnsBlocksToTheSlabsOfEveryOwner) {
  const std::vector<void*> own = take(owner, 100), others = take(other, 100);
  ASSERT_TRUE(park_all(own) && park_all(others));
  ReturnedPages returned;
  {
    os::LockGuard guard(owner.mutex);
    EXPECT_EQ(return_parked(owner, kTestClass, 150, returned), 150u);
    EXPECT_EQ(parked_count(owner, kTestClass), 50u);
    EXPECT_EQ(return_parked(owner, kTestClass, 150, returned), 50u);
    EXPECT_EQ(owner.taken_bytes, 0u);
  }
  os::LockGuard guard(other.mutex);
  trim_locked(other, TrimDepth::kAll, returned);
  EXPECT_EQ(other.taken_bytes, 0u);
}

TEST_F(DepotTest, IsTrimmedWithItsOwner) {
  ASSERT_TRUE(park_all(take(owner, 500)));
  ReturnedPages returned;
  os::LockGuard guard(owner.mutex);
  trim_locked(owner, TrimDepth::kIdle, returned);
  EXPECT_EQ(parked_bytes(owner), 0u);
  EXPECT_EQ(owner.slab_bytes, 0u);
}

TEST_F(DepotTest, AnIdleClassGivesWayToOneThatGrows) {
  constexpr SizeClass kGrowing = class_of_index(20);
  ASSERT_TRUE(park_all(take(owner, 1000)));
  const auto grow = [&] {
    ReturnedPages returned;
    os::LockGuard guard(owner.mutex);
    give_way(owner, kGrowing, kPageBytes, returned);
    return parked_count(owner, kTestClass);
  };
  EXPECT_EQ(grow(), 1000u) << "it was in use a moment ago";
  EXPECT_EQ(grow(), 744u);
  EXPECT_EQ(grow(), 488u);
  unpark_some(1);
  EXPECT_EQ(grow(), 487u) << "it is in use again";
  EXPECT_EQ(grow(), 231u);
  EXPECT_EQ(grow(), 0u);
  EXPECT_EQ(grow(), 0u);
  check(owner);
}

TEST_F(DepotTest, AClassThatGrowsKeepsItsOwn) {
  ASSERT_TRUE(park_all(take(owner, 100)));
  ReturnedPages returned;
  os::LockGuard guard(owner.mutex);
  for (int i = 0; i < 3; ++i) give_way(owner, kTestClass, kPageBytes, returned);
  EXPECT_EQ(parked_count(owner, kTestClass), 100u);
}

// As while a thread is descheduled that parks or unparks.
TEST_F(DepotTest, NoThreadWaitsForAnother) {
  ASSERT_TRUE(park_all(take(owner, 200)));
  const std::vector<void*> more = take(owner, 64);
  {
    os::LockGuard guard(parked().mutex);
    void* blocks[10];
    EXPECT_EQ(unpark(owner, kTestClass, blocks, 10), 0u);
    ReturnedPages returned;
    EXPECT_FALSE(park(owner, kTestClass, more.data(), 64, returned));
  }
  EXPECT_EQ(unpark_some(200).size(), 200u);
  give_back(owner, more);
}

TEST_F(DepotTest, IsAskedAgainBeforeItsOwnerMakesASlab) {
  ASSERT_TRUE(park_all(take(owner, 200)));
  std::vector<void*> blocks(200);
  ReturnedPages returned;
  os::LockGuard guard(owner.mutex);
  EXPECT_EQ(unpark_again(owner, kTestClass, blocks.data(), 200), 200u);
  EXPECT_EQ(unpark_again(owner, kTestClass, blocks.data(), 1), 0u);
  return_blocks(&owner, blocks.data(), 200, returned);
}

TEST_F(DepotTest, IsMadeAfterSomeFlushes) {
  int flushes = 1;
  while (!may_park(other, kTestClass) && other.depot.load() == nullptr) ++flushes;
  EXPECT_GT(flushes, 20);
  EXPECT_EQ(parked_bytes(other), 0u);
}

TEST_F(DepotTest, IsLimitedInSteps) {
  ASSERT_TRUE(park_all(take(owner, 200)));
  const std::size_t some = 50 * kParkedBytes;
  ReturnedPages returned;
  os::LockGuard guard(owner.mutex);
  EXPECT_TRUE(limit_parked(owner, some, 100, returned));
  EXPECT_FALSE(limit_parked(owner, some, 100, returned));
  EXPECT_LE(parked_bytes(owner), some);
}

}  // namespace
}  // namespace tarn::internal
