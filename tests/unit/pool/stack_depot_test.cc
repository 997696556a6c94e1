#include "pool/stack_depot.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "page/metadata.h"

namespace tarn::internal {
namespace {

constexpr unsigned kIndex = 4;  // 64 bytes
constexpr std::size_t kMuch = 1 << 20;

FreeStack* make_stack(char first) {
  auto* const stack = static_cast<FreeStack*>(metadata.allocate(sizeof(FreeStack)));
  for (FreeBlock& block : stack->blocks) block = {reinterpret_cast<void*>(std::uintptr_t(first)), nullptr};
  return stack;
}
char first_of(const FreeStack& stack) {
  return static_cast<char>(reinterpret_cast<std::uintptr_t>(stack.blocks[0].block));
}

class DepotOfStacks : public ::testing::Test {
 protected:
  DepotOfStacks() {
    depot_.set_room(kMuch);
    pair_.begin(kIndex);
  }
  ~DepotOfStacks() override {
    depot_.forget();
    for (FreeStack* stack : {pair_.used(), pair_.other()})
      if (stack != nullptr) depot_.give_empty(stack, kIndex);
    depot_.end_empty();
  }
  /// Two whole stacks, the other one of blocks `first`.
  void fill(char first) {
    pair_.set_used(make_stack(first));
    pair_.set_count(pair_.room());
    pair_.set_other(make_stack(0));
    pair_.use_empty();
    pair_.set_count(pair_.room());
  }

  StackDepot depot_;
  StackPair pair_;
};

TEST_F(DepotOfStacks, WhatIsParkedIsLoaded) {
  fill(7);
  depot_.give_empty(make_stack(0), kIndex);
  ASSERT_TRUE(depot_.park(pair_, kIndex));
  EXPECT_EQ(pair_.count(), 0u);
  EXPECT_TRUE(pair_.is_other_whole());
  EXPECT_EQ(depot_.bytes(), StackClasses::stack_bytes(kIndex));
  EXPECT_EQ(depot_.count(), pair_.room());
  depot_.validate();

  StackPair another;
  another.begin(kIndex);
  ASSERT_TRUE(depot_.load(another, kIndex));
  EXPECT_EQ(another.count(), another.room());
  EXPECT_EQ(first_of(*another.used()), 7);
  EXPECT_EQ(depot_.bytes(), 0u);
  EXPECT_FALSE(depot_.load(another, kIndex));
  depot_.give_empty(another.drop_used(), kIndex);
  depot_.validate();
}

TEST_F(DepotOfStacks, NothingIsParkedWithoutRoomOrAnEmptyStackOrOfAClassThatIsRefused) {
  fill(1);
  EXPECT_FALSE(depot_.park(pair_, kIndex));  // no empty one
  depot_.give_empty(make_stack(0), kIndex);
  depot_.set_room(StackClasses::stack_bytes(kIndex) - 1);
  EXPECT_FALSE(depot_.park(pair_, kIndex));
  depot_.set_room(kMuch);
  EXPECT_FALSE(depot_.admit(kIndex, false));
  EXPECT_FALSE(depot_.park(pair_, kIndex));
  EXPECT_TRUE(pair_.is_other_whole());
  EXPECT_EQ(pair_.count(), pair_.room());
  EXPECT_FALSE(depot_.admit(kIndex, true));
  EXPECT_TRUE(depot_.park(pair_, kIndex));
  EXPECT_TRUE(depot_.admit(kIndex, false));  // one is there already
}

TEST_F(DepotOfStacks, TakesWholeStacksOfAllClassesInTurn) {
  depot_.give_whole(make_stack(1), 3);
  depot_.give_whole(make_stack(2), 9);
  depot_.give_whole(make_stack(3), 9);
  unsigned index = 5;
  char order[3] = {};
  for (char& first : order) {
    FreeStack* const stack = depot_.take_any(&index);
    ASSERT_NE(stack, nullptr);
    first = first_of(*stack);
    depot_.give_empty(stack, index);
  }
  EXPECT_EQ(order[0], 3);
  EXPECT_EQ(order[1], 2);
  EXPECT_EQ(order[2], 1);
  EXPECT_EQ(depot_.take_any(&index), nullptr);
}

TEST_F(DepotOfStacks, ThreadsLoseNoStackAndShareNone) {
  constexpr int kStacks = 6, kTurns = 20'000;
  for (int i = 0; i < kStacks; ++i) depot_.give_whole(make_stack(static_cast<char>(i)), kIndex);
  for (int i = 0; i < 4; ++i) depot_.give_empty(make_stack(0), kIndex);
  std::atomic<int> holders[kStacks] = {};
  const auto exchange = [&] {
    StackPair pair;
    pair.begin(kIndex);
    for (int turn = 0; turn < kTurns; ++turn) {
      if (!depot_.load(pair, kIndex)) continue;
      std::atomic<int>& holder = holders[static_cast<int>(first_of(*pair.used()))];
      EXPECT_EQ(holder.fetch_add(1), 0);
      EXPECT_EQ(holder.fetch_sub(1), 1);
      pair.set_count(0);
      depot_.give_whole(pair.drop_used(), kIndex);
    }
  };
  std::thread other(exchange);
  exchange();
  other.join();
  depot_.validate();
  EXPECT_EQ(depot_.count(), kStacks * StackClasses::room(kIndex));
}

TEST_F(DepotOfStacks, CountsAnewWhereAForkCutAnExchange) {
  depot_.give_whole(make_stack(1), kIndex);
  depot_.give_whole(make_stack(2), kIndex);
  EXPECT_EQ(depot_.count(), 2 * StackClasses::room(kIndex));
  EXPECT_FALSE(depot_.may_count_wrong());
  os::OwnerLock::forget_other_threads();  // as in the child
  EXPECT_TRUE(depot_.may_count_wrong());
  depot_.heed_fork();
  EXPECT_FALSE(depot_.may_count_wrong());
  EXPECT_EQ(depot_.count(), 2 * StackClasses::room(kIndex));
  depot_.validate();
}

TEST(PairOfStacks, ExchangesItsStacks) {
  StackPair pair;
  pair.begin(kIndex);
  FreeStack one{}, two{};
  pair.set_used(&one);
  pair.set_count(pair.room());
  pair.set_other(&two);
  pair.use_empty();
  EXPECT_EQ(pair.used(), &two);
  EXPECT_EQ(pair.other(), &one);
  EXPECT_EQ(pair.count(), 0u);
  EXPECT_TRUE(pair.is_other_whole());
  pair.use_whole();
  EXPECT_EQ(pair.used(), &one);
  EXPECT_EQ(pair.other(), &two);
  EXPECT_EQ(pair.count(), pair.room());
  EXPECT_FALSE(pair.is_other_whole());
}

}  // namespace
}  // namespace tarn::internal
