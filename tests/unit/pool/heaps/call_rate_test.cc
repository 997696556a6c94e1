#include "pool/heaps/call_rate.h"

#include <gtest/gtest.h>

namespace tarn::internal {
namespace {

/// As many calls as a look is for, which end at a time.
void call_until(CallRate& rate, std::uint64_t now_ms) {
  for (unsigned i = 1; i < CallRate::kCalls; ++i) ASSERT_FALSE(rate.note_call());
  ASSERT_TRUE(rate.note_call());
  rate.look(now_ms);
}

TEST(CallRate, IsHighOnceAllCallsBetweenTwoLooksWereFast) {
  CallRate rate;
  call_until(rate, 1000);
  EXPECT_FALSE(rate.is_high()) << "when these calls began is unknown";
  call_until(rate, 1000 + CallRate::kMostMs);
  EXPECT_TRUE(rate.is_high());
}

TEST(CallRate, OfManyCallsInALongTimeIsLow) {
  CallRate rate;
  for (std::uint64_t now_ms = 0; now_ms < 10'000; now_ms += CallRate::kMostMs + 1) {
    call_until(rate, now_ms);
    EXPECT_FALSE(rate.is_high());
  }
}

TEST(CallRate, TwoThreadsThatLookAtOnceLookOnce) {
  CallRate rate;
  call_until(rate, 1000);
  rate.look(1000);
  EXPECT_FALSE(rate.is_high());
}

TEST(CallRate, FallsAgain) {
  CallRate rate;
  call_until(rate, 1);
  call_until(rate, 2);
  EXPECT_TRUE(rate.is_high());
  call_until(rate, 1000);
  EXPECT_FALSE(rate.is_high());
}

TEST(CallRate, SurvivesTheOverflowOfItsClock) {
  CallRate rate;
  call_until(rate, 0xffff'ffff);
  call_until(rate, 0x1'0000'0000);
  EXPECT_TRUE(rate.is_high());
}

}  // namespace
}  // namespace tarn::internal
