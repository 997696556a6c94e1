#include "tarn/profile.h"

#include <gtest/gtest.h>

#include <vector>

#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/options.h"

namespace tarn {
namespace {

struct ProfileOfAll {
  ProfileOfAll() { start_profile(1); }
  ~ProfileOfAll() { stop_profile(); }
};

TEST(Profile, TellsItsInterval) {
  EXPECT_EQ(profile_interval(), 0u);
  start_profile(4'096);
  EXPECT_EQ(profile_interval(), 4'096u);
  stop_profile();
  EXPECT_EQ(profile_interval(), 0u);
}

TEST(Profile, VisitsEachLiveBlockWithItsStack) {
  const ProfileOfAll profile;
  std::vector<void*> blocks(100);
  for (void*& block : blocks) block = allocate(77);
  std::size_t found = 0;
  visit_samples([&](const Sample& sample) {
    if (sample.bytes != 77) return;
    ++found;
    EXPECT_EQ(sample.weight, 1);
    EXPECT_EQ(sample.pool, 0u);
    EXPECT_GT(sample.address_count, 1u);
  });
  EXPECT_EQ(found, 100u);
  for (void* const block : blocks) deallocate(block);
}

TEST(Profile, TellsAPoolByItsNumber) {
  const ProfileOfAll profile;
  Heap first, second;
  void* const of_first = first.allocate(78);
  void* const of_second = second.allocate(78);
  std::vector<std::uint64_t> pools;
  visit_samples([&](const Sample& sample) {
    if (sample.bytes == 78) pools.push_back(sample.pool);
  });
  ASSERT_EQ(pools.size(), 2u);
  EXPECT_NE(pools[0], pools[1]);
  EXPECT_NE(pools[0], 0u);
  first.deallocate(of_first);
  second.deallocate(of_second);
}

TEST(Profile, AVisitorMayAllocateAndFree) {
  const ProfileOfAll profile;
  std::vector<void*> blocks(1'000);
  for (void*& block : blocks) block = allocate(79);
  std::size_t visits = 0;
  visit_samples([&](const Sample& sample) {
    if (sample.bytes != 79) return;
    ++visits;
    deallocate(const_cast<void*>(sample.block));
    deallocate(allocate(80));
  });
  EXPECT_GT(visits, 500u);
  std::size_t left = 0;
  visit_samples([&](const Sample& sample) {
    if (sample.bytes != 79) return;
    ++left;
    deallocate(const_cast<void*>(sample.block));
  });
  EXPECT_EQ(visits + left, 1'000u);
}

}  // namespace
}  // namespace tarn
