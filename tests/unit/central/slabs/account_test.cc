#include "central/slabs/account.h"

#include "support/prelude.h"
#include "support/threads.h"

namespace tarn::internal {
namespace {

struct LimitedAccount : Account {
  LimitedAccount(std::size_t soft, std::size_t hard, Account* around = nullptr) {
    set_limits(soft, hard);
    begin(around);
    if (around != nullptr) around->share();
  }
};

TEST(Account, ChargesUpToTheHardLimitAndKeepsThePeak) {
  LimitedAccount account(SIZE_MAX, 100);
  EXPECT_TRUE(account.charge(60));
  EXPECT_FALSE(account.charge(41));
  EXPECT_TRUE(account.charge(40));
  account.settle();
  EXPECT_FALSE(account.charge(1));
  account.credit(90);
  EXPECT_EQ(account.charged(), 10u);
  EXPECT_EQ(account.peak(), 100u);
  EXPECT_EQ(account.room(), 90u);
  account.set_limits(SIZE_MAX, 5);
  EXPECT_EQ(account.room(), 0u);
  EXPECT_FALSE(account.charge(1));
}

TEST(Account, SumsDoNotOverflow) {
  LimitedAccount account(SIZE_MAX, SIZE_MAX);
  EXPECT_TRUE(account.charge(SIZE_MAX - 1));
  EXPECT_FALSE(account.charge(2));
  EXPECT_TRUE(account.charge(1));
}

TEST(Account, NotesEachCrossingOfTheSoftLimitOnce) {
  LimitedAccount account(100, SIZE_MAX);
  const auto crosses_by = [&](std::size_t bytes) {
    EXPECT_TRUE(account.charge(bytes));
    account.settle();
    return account.take_crossing();
  };
  EXPECT_FALSE(crosses_by(100));
  EXPECT_EQ(account.room(), 0u);
  EXPECT_TRUE(crosses_by(1));
  EXPECT_FALSE(account.take_crossing());
  EXPECT_EQ(account.room(), SIZE_MAX - 101);
  EXPECT_FALSE(crosses_by(1)) << "it was above already";
  account.credit(50);
  EXPECT_TRUE(crosses_by(50));
  account.set_limits(200, SIZE_MAX);
  EXPECT_TRUE(crosses_by(150));
  account.set_limits(10, SIZE_MAX);
  EXPECT_FALSE(crosses_by(1)) << "the limit has fallen, the bytes crossed nothing";
}

TEST(Account, AChargeThatWasNotSettledHasCrossedNothingAndIsNoPeak) {
  LimitedAccount around(50, SIZE_MAX), account(100, SIZE_MAX, &around);
  EXPECT_TRUE(account.charge(200));
  account.credit(200);
  EXPECT_TRUE(account.charge(10));
  account.settle();
  EXPECT_FALSE(account.take_crossing());
  EXPECT_FALSE(around.take_crossing());
  EXPECT_EQ(account.peak(), 10u);
  EXPECT_EQ(around.peak(), 10u);
  EXPECT_EQ(around.charged(), 10u);
  EXPECT_EQ(around.inner(), 10u);
}

TEST(Account, WhatLiesWithinCountsForAllAround) {
  LimitedAccount outer(SIZE_MAX, 100), middle(SIZE_MAX, 80, &outer), inner(SIZE_MAX, 60, &middle);
  EXPECT_TRUE(outer.charge(10));
  EXPECT_TRUE(inner.charge(50));
  EXPECT_TRUE(middle.charge(20));
  EXPECT_EQ(outer.charged(), 80u);
  EXPECT_EQ(outer.own(), 10u);
  EXPECT_EQ(middle.charged(), 70u);
  EXPECT_EQ(middle.own(), 20u);
  EXPECT_EQ(inner.room(), 10u);
  EXPECT_EQ(inner.least_limit(), 60u);
  EXPECT_TRUE(outer.charge(15));
  EXPECT_EQ(inner.room(), 5u);
  EXPECT_FALSE(inner.charge(6)) << "the outermost would exceed its limit";
  EXPECT_EQ(inner.charged(), 50u);
  EXPECT_EQ(middle.charged(), 70u);
  inner.credit(50);
  EXPECT_EQ(outer.charged(), 45u);
  EXPECT_EQ(outer.inner(), 20u);
}

TEST(Account, HeapsWithinOneChargeItFromManyThreads) {
  constexpr std::size_t kLimit = 1000;
  LimitedAccount around(SIZE_MAX, kLimit);
  around.share();
  test::in_threads(4, [&] {
    Account account;
    account.set_limits(SIZE_MAX, SIZE_MAX);
    account.begin(&around);
    for (int step = 0; step < 20000; ++step) {
      const std::size_t bytes = 1 + static_cast<std::size_t>(step) % 400;
      if (!account.charge(bytes)) continue;
      EXPECT_LE(around.charged(), kLimit);
      account.settle();
      account.credit(bytes);
    }
  });
  EXPECT_EQ(around.charged(), 0u);
  EXPECT_EQ(around.inner(), 0u);
  EXPECT_LE(around.peak(), kLimit);
}

}  // namespace
}  // namespace tarn::internal
