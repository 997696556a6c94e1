#include "central/owners.h"

#include "central/private_classes.h"
#include "central/scavenge.h"
#include "central/slabs/class_slabs.h"
#include "central/take_blocks.h"
#include "central/trim.h"
#include "os/memory/memory.h"
#include "os/process/process.h"
#include "support/prelude.h"
#include "unit/central/owner_fixture.h"

namespace tarn::internal {
namespace {

// All there is to do.
std::size_t scavenge_as(SlabOwner& owner, Scavenged which) {
  unsigned most = UINT_MAX, classes_done = 0;
  if (which == Scavenged::kQuiet) look_for_quiet(owner);
  return scavenge(owner, which, most, classes_done);
}

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
  EXPECT_EQ(owners.trim_idle(LookShare::kAll), LookState::kDone);
  EXPECT_NE(owner.of(kTestClass).totals.slabs, 0u);
  owners.trim_idle(LookShare::kAll);
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

constexpr SizeClass kFirst = class_of_index(detail::kFirstPoolClass);
constexpr SizeClass kLate = class_of_index(5 * PerClass<int>::kInBlock + 7);
constexpr SizeClass kLast = class_of_index(detail::kMostClasses - 1);

TEST(PerClass, ElementsOfBinsAndOfTheFirstPoolsAreThere) {
  const auto numbers = std::make_unique<PerClass<int>>();
  numbers->made(class_of_index(1)) = 1;
  numbers->made(kFirst) = 2;
  EXPECT_EQ(numbers->at(class_of_index(1)), 1);
  EXPECT_EQ(*numbers->find(kFirst), 2);
}

TEST(PerClass, LaterOnesAreZeroUntilTheyAreMade) {
  const auto numbers = std::make_unique<PerClass<int>>();
  EXPECT_EQ(numbers->at(kLate), 0);
  EXPECT_EQ(numbers->find(kLate), nullptr);
  int* const made = numbers->make(kLate);
  ASSERT_NE(made, nullptr);
  *made = 7;
  EXPECT_EQ(numbers->make(kLate), made);
  EXPECT_EQ(numbers->at(kLate), 7);
  EXPECT_EQ(numbers->find(kLast), nullptr) << "another block";
  ASSERT_NE(numbers->make(kLast), nullptr);
  EXPECT_EQ(numbers->made(kLast), 0);
}

TEST(AllClasses, AreThoseOfBinsAndOfPoolsAndNoneBetween) {
  end_of_classes = detail::kFirstPoolClass + 2;
  std::set<unsigned> seen;
  for (const SizeClass size_class : all_classes()) seen.insert(index_of_class(size_class));
  EXPECT_EQ(seen.size(), kBinCount - 1 + 2);
  EXPECT_TRUE(seen.contains(kBinCount - 1) && seen.contains(detail::kFirstPoolClass + 1));
  EXPECT_FALSE(seen.contains(kBinCount));
}

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

class Scavenge : public OwnerFixture {
 protected:
  /// A slab whose blocks have all been written, with `live` of them live, and a second one that is full.
  std::vector<void*> sparse_slab(unsigned live) {
    std::vector<void*> blocks = take(owner, 1);
    const unsigned count = slab_of(blocks[0])->block_count;
    const std::vector<void*> rest = take(owner, count - 1);
    blocks.insert(blocks.end(), rest.begin(), rest.end());
    for (void* block : blocks) std::memset(block, 0xab, 160);
    take(owner, 1);
    give_back(owner, std::vector<void*>(blocks.begin() + live, blocks.end()));
    blocks.resize(live);
    return blocks;
  }
};

TEST_F(Scavenge, GivesThePagesThatHoldNoLiveBlockBack) {
  const std::vector<void*> live = sparse_slab(1);
  const std::size_t pages = kPageBytes / os::page_bytes();
  if (pages < 4) GTEST_SKIP() << "OS pages are as large as slabs here";
  EXPECT_GE(scavenge_as(owner, Scavenged::kAll), (pages - 2) * os::page_bytes());
  EXPECT_EQ(static_cast<unsigned char*>(live[0])[159], 0xab) << "a live block keeps its contents";
}

TEST_F(Scavenge, ComesInPartsToAllSlabs) {
  const std::vector<void*> live = sparse_slab(1);
  unsigned most = 0, classes_done = 0;
  EXPECT_EQ(scavenge(owner, Scavenged::kAll, most, classes_done), 0u);
  std::size_t purged = 0;
  for (int part = 0; part < 10; ++part) {
    most = 1;
    purged += scavenge(owner, Scavenged::kAll, most, classes_done);
  }
  EXPECT_GT(purged, 0u);
  EXPECT_EQ(slab_of(live[0])->quiet, Quiet::kScavenged);
  EXPECT_EQ(most, 1u) << "nothing is left";
  EXPECT_GE(classes_done, owner.class_count - 1u);
}

TEST_F(Scavenge, LooksAtASlabOnceUntilBlocksComeOrGo) {
  const std::vector<void*> live = sparse_slab(2);
  scavenge_as(owner, Scavenged::kAll);
  EXPECT_EQ(scavenge_as(owner, Scavenged::kAll), 0u);
  give_back(owner, {live[1]});
  EXPECT_GT(scavenge_as(owner, Scavenged::kAll), 0u);
}

TEST_F(Scavenge, OfABusyOwnerTakesWhatNoBlockCameToForTwoLooks) {
  const std::vector<void*> live = sparse_slab(2);
  EXPECT_EQ(scavenge_as(owner, Scavenged::kQuiet), 0u);
  EXPECT_GT(scavenge_as(owner, Scavenged::kQuiet), 0u);
  EXPECT_EQ(scavenge_as(owner, Scavenged::kQuiet), 0u);
  give_back(owner, {live[1]});
  EXPECT_EQ(scavenge_as(owner, Scavenged::kQuiet), 0u);
  EXPECT_GT(scavenge_as(owner, Scavenged::kQuiet), 0u);
}

TEST_F(Scavenge, OfABusyOwnerLeavesTheOnlySlabThatThreadsCanUse) {
  const std::vector<void*> blocks = take(owner, 100);
  for (void* block : blocks) std::memset(block, 0xab, 160);
  give_back(owner, std::vector<void*>(blocks.begin() + 1, blocks.end()));
  for (int look = 0; look < 3; ++look) EXPECT_EQ(scavenge_as(owner, Scavenged::kQuiet), 0u);
  EXPECT_GT(scavenge_as(owner, Scavenged::kAll), 0u);
}

TEST_F(Scavenge, LeavesEveryFreeBlockInItsSlab) {
  const std::vector<void*> live = sparse_slab(5);
  const Span* const slab = slab_of(live[0]);
  const std::uint32_t free_before = slab->free_count;
  scavenge_as(owner, Scavenged::kAll);
  EXPECT_EQ(slab->free_count, free_before);
}

TEST_F(Scavenge, LeavesSlabsMadeAheadOfNeedBacked) {
  const std::vector<void*> live = sparse_slab(1);
  keep_slab(owner, slab_of(live[0]));
  for (Span* slab = owner.of(kTestClass).available.first(); slab != nullptr; slab = slab->next)
    keep_slab(owner, slab);
  EXPECT_EQ(scavenge_as(owner, Scavenged::kAll), 0u);
}

TEST_F(Scavenge, BlocksItHasTakenAreNotFreedMemoryOfTheOwner) {
  static const SlabOwner* scavenged = nullptr;
  static std::size_t freed = 0;
  const std::vector<void*> live = sparse_slab(1);
  scavenged = &owner;
  freed = 0;
  owner.peak_taken_bytes = owner.taken_bytes;  // as long after the peak
  os::set_fault_hook_for_test([](os::Call) {
    freed += bytes_freed_recently(*scavenged);
    return os::Fault::kNone;
  });
  scavenge_as(owner, Scavenged::kAll);
  os::set_fault_hook_for_test(nullptr);
  EXPECT_EQ(freed, 0u);
}

// Else its free blocks would be counted back at another owner than they were counted at.
TEST_F(Scavenge, NobodyAdoptsTheSlabMeanwhile) {
  static SlabOwner *scavenged = nullptr, *adopter = nullptr;
  static void* block = nullptr;
  static const Span* slab = nullptr;
  static bool was_adopted = false;
  const std::vector<void*> live = sparse_slab(2);
  slab = slab_of(live[0]);
  scavenged = &owner;
  adopter = &other;
  block = live[0];
  was_adopted = false;
  end(owner);
  os::set_fault_hook_for_test([](os::Call) {
    if (scavenged->scavenged != slab) return os::Fault::kNone;
    if (block != nullptr) {
      ReturnedPages returned;
      os::LockGuard guard(scavenged->mutex);
      return_blocks(scavenged, &block, 1, returned);  // lists the slab
      block = nullptr;
    }
    os::LockGuard guard(adopter->mutex);
    was_adopted |= owners.adopt_slab(*adopter, kTestClass) == slab;
    return os::Fault::kNone;
  });
  EXPECT_GT(scavenge_as(owner, Scavenged::kAll), 0u);
  os::set_fault_hook_for_test(nullptr);
  EXPECT_EQ(block, nullptr);
  EXPECT_FALSE(was_adopted);
  EXPECT_EQ(owner.scavenged_bytes, 0u);
}

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
