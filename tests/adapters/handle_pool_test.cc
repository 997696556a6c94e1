#include "tarn/handle_pool.h"

#include <unordered_set>

#include "support/prelude.h"

namespace tarn::test {
namespace {

struct Thing {
  explicit Thing(int number) : value(number) {
    if (number < 0) throw number;
  }
  int value;
};

TEST(HandlePool, AnOldHandleNeverNamesANewObject) {
  HandlePool<Thing> pool({.at_end = AtPoolEnd::kDestroy});
  std::vector<Handle<Thing>> old;
  for (int round = 0; round < 100; ++round) {
    const Handle<Thing> handle = pool.create(round);
    ASSERT_EQ(pool.at(handle).value, round);
    for (const Handle<Thing>& ended : old) ASSERT_EQ(pool.get(ended), nullptr);
    ASSERT_TRUE(pool.destroy(handle));
    ASSERT_FALSE(pool.destroy(handle));
    old.push_back(handle);
  }
  EXPECT_EQ(pool.live_count(), 0u);
}

TEST(HandlePool, AnEmptyHandleAndOneOfNoSlotAreAnswered) {
  HandlePool<Thing> pool;
  EXPECT_EQ(pool.get({}), nullptr);
  EXPECT_EQ(pool.get({.slot = 5000, .generation = 1}), nullptr);
  EXPECT_FALSE(pool.destroy({.slot = 5000, .generation = 1}));
  EXPECT_FALSE(Handle<Thing>());
}

TEST(HandlePool, AForgedHandleOfAFreeSlotIsAnswered) {
  HandlePool<Thing> pool;
  const Handle<Thing> handle = pool.create(1);
  pool.destroy(handle);
  const Handle<Thing> forged{handle.slot, handle.generation + 1};
  EXPECT_EQ(pool.get(forged), nullptr) << "the slot's generation is the same while it is free";
  EXPECT_FALSE(pool.destroy(forged));
  EXPECT_FALSE(pool.destroy({}));
}

TEST(HandlePool, HandlesAreKeysOfOrderedAndUnorderedContainers) {
  HandlePool<Thing> pool({.at_end = AtPoolEnd::kDestroy});
  std::vector<Handle<Thing>> handles{{}};
  for (int i = 0; i < 2000; ++i) {
    handles.push_back(pool.create(i));
    if (i % 2 == 0) pool.destroy(handles.back());
  }
  const std::set<Handle<Thing>> ordered(handles.begin(), handles.end());
  const std::unordered_set<Handle<Thing>> hashed(handles.begin(), handles.end());
  EXPECT_EQ(ordered.size(), handles.size());
  EXPECT_EQ(hashed.size(), handles.size());
  EXPECT_EQ(*ordered.begin(), Handle<Thing>()) << "the null handle comes first";
  EXPECT_LT((Handle<Thing>{1, 3}), (Handle<Thing>{2, 1}));
  EXPECT_LT((Handle<Thing>{2, 1}), (Handle<Thing>{2, 3}));
  std::set<std::size_t> low_bits;
  for (const Handle<Thing>& handle : handles) low_bits.insert(std::hash<Handle<Thing>>()(handle) % 4096);
  EXPECT_GT(low_bits.size(), 1200u) << "2001 handles of random hashes fill some 1,580 of 4,096 places";
}

TEST(HandlePool, AConstructorThatThrowsLosesNoSlot) {
  HandlePool<Thing> pool;
  for (int i = 0; i < 5000; ++i) EXPECT_THROW(static_cast<void>(pool.create(-1)), int);
  const Handle<Thing> handle = pool.create(1);
  EXPECT_EQ(handle.slot, 0u);
  EXPECT_TRUE(pool.destroy(handle));
}

struct Parent {
  explicit Parent(HandlePool<Parent>& of) : pool(of) {}
  ~Parent() {
    pool.destroy(child);
    for (int i = 0; i < uses; ++i) pool.destroy(pool.create(pool));
    if (keeps) last = pool.create(pool);
  }
  HandlePool<Parent>& pool;
  Handle<Parent> child;
  int uses = 0;
  bool keeps = false;
  inline static Handle<Parent> last;
};

TEST(HandlePool, ADestructorMayEndAndMakeObjectsOfItsPool) {
  HandlePool<Parent> pool;
  std::vector<Handle<Parent>> old;
  for (int i = 0; i < 600; ++i) {
    const Handle<Parent> parent = pool.create(pool);
    const Handle<Parent> child = pool.create(pool);
    pool.at(parent).child = child;
    pool.at(parent).uses = i % 3;
    pool.at(parent).keeps = i % 2 == 0;
    Parent::last = {};
    ASSERT_TRUE(pool.destroy(parent));
    old.insert(old.end(), {parent, child});
    ASSERT_EQ(pool.live_count(), i % 2 == 0 ? 1u : 0u);
    ASSERT_EQ(pool.destroy(Parent::last), i % 2 == 0);
  }
  for (const Handle<Parent>& ended : old) ASSERT_EQ(pool.get(ended), nullptr);
}

TEST(HandlePool, ManySlotsKeepTheirObjects) {
  HandlePool<Thing> pool({.at_end = AtPoolEnd::kDestroy});
  std::vector<Handle<Thing>> handles;
  for (int i = 0; i < 5000; ++i) handles.push_back(pool.create(i));
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(pool.at(handles[static_cast<std::size_t>(i)]).value, i);
}

TEST(HandlePool, OfTwoThreadsThatEndAnObjectOneSucceeds) {
  HandlePool<Thing> pool;
  constexpr int kRounds = 1000;
  std::atomic<int> ended{0};
  Handle<Thing> handle;
  std::barrier round(2);
  const auto race = [&](bool creates) {
    for (int i = 0; i < kRounds; ++i) {
      if (creates) handle = pool.create(i);
      round.arrive_and_wait();
      if (pool.destroy(handle)) ++ended;
      round.arrive_and_wait();
    }
  };
  std::thread other(race, false);
  race(true);
  other.join();
  EXPECT_EQ(ended, kRounds);
  EXPECT_EQ(pool.live_count(), 0u);
}

TEST(HandlePoolDeathTest, AtStopsWithThePoolsName) {
  HandlePool<Thing> pool({.name = "things"});
  const Handle<Thing> handle = pool.create(1);
  pool.destroy(handle);
  EXPECT_DEATH(static_cast<void>(pool.at(handle)),
               "tarn: use of a handle whose object has ended in 'things'");
}

}  // namespace
}  // namespace tarn::test
