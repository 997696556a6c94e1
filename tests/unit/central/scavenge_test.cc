#include "central/scavenge.h"

#include <cstring>

#include "central/slabs/class_slabs.h"
#include "os/memory/memory.h"
#include "os/process/process.h"
#include "unit/central/owner_fixture.h"

namespace tarn::internal {
namespace {

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
  EXPECT_GE(scavenge(owner, Scavenged::kAll), (pages - 2) * os::page_bytes());
  EXPECT_EQ(static_cast<unsigned char*>(live[0])[159], 0xab) << "a live block keeps its contents";
}

TEST_F(Scavenge, LooksAtASlabOnceUntilBlocksComeOrGo) {
  const std::vector<void*> live = sparse_slab(2);
  scavenge(owner, Scavenged::kAll);
  EXPECT_EQ(scavenge(owner, Scavenged::kAll), 0u);
  give_back(owner, {live[1]});
  EXPECT_GT(scavenge(owner, Scavenged::kAll), 0u);
}

TEST_F(Scavenge, OfABusyOwnerTakesWhatNoBlockCameToForTwoLooks) {
  const std::vector<void*> live = sparse_slab(2);
  EXPECT_EQ(scavenge(owner, Scavenged::kQuiet), 0u);
  EXPECT_GT(scavenge(owner, Scavenged::kQuiet), 0u);
  EXPECT_EQ(scavenge(owner, Scavenged::kQuiet), 0u);
  give_back(owner, {live[1]});
  EXPECT_EQ(scavenge(owner, Scavenged::kQuiet), 0u);
  EXPECT_GT(scavenge(owner, Scavenged::kQuiet), 0u);
}

TEST_F(Scavenge, OfABusyOwnerLeavesTheOnlySlabThatThreadsCanUse) {
  const std::vector<void*> blocks = take(owner, 100);
  for (void* block : blocks) std::memset(block, 0xab, 160);
  give_back(owner, std::vector<void*>(blocks.begin() + 1, blocks.end()));
  for (int look = 0; look < 3; ++look) EXPECT_EQ(scavenge(owner, Scavenged::kQuiet), 0u);
  EXPECT_GT(scavenge(owner, Scavenged::kAll), 0u);
}

TEST_F(Scavenge, LeavesEveryFreeBlockInItsSlab) {
  const std::vector<void*> live = sparse_slab(5);
  const Span* const slab = slab_of(live[0]);
  const std::uint32_t free_before = slab->free_count;
  scavenge(owner, Scavenged::kAll);
  EXPECT_EQ(slab->free_count, free_before);
}

TEST_F(Scavenge, LeavesSlabsMadeAheadOfNeedBacked) {
  const std::vector<void*> live = sparse_slab(1);
  keep_slab(owner, slab_of(live[0]));
  for (Span* slab = owner.of(kTestClass).available.first(); slab != nullptr; slab = slab->next)
    keep_slab(owner, slab);
  EXPECT_EQ(scavenge(owner, Scavenged::kAll), 0u);
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
  scavenge(owner, Scavenged::kAll);
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
  EXPECT_GT(scavenge(owner, Scavenged::kAll), 0u);
  os::set_fault_hook_for_test(nullptr);
  EXPECT_EQ(block, nullptr);
  EXPECT_FALSE(was_adopted);
  EXPECT_EQ(owner.scavenged_bytes, 0u);
}

}  // namespace
}  // namespace tarn::internal
