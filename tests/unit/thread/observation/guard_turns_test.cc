#include "thread/observation/guard_turns.h"

#include "support/prelude.h"

namespace tarn::internal {
namespace {

TEST(GuardTurns, AreNoneUntilTheyAreSet) {
  GuardTurns turns;
  EXPECT_FALSE(turns.is_turn());
  EXPECT_FALSE(turns.begin_if_due());
}

TEST(GuardTurns, RestWhenTheBlockHasCome) {
  GuardTurns turns;
  turns.set(5'000);
  EXPECT_TRUE(turns.is_turn());
  EXPECT_TRUE(turns.end(1'000));
  EXPECT_FALSE(turns.is_turn());
  EXPECT_FALSE(turns.end(1'000)) << "another thread's block, of the same turn";
  EXPECT_FALSE(turns.begin_if_due());
  // 250 times 37 us.
  std::this_thread::sleep_for(std::chrono::milliseconds(11));
  EXPECT_TRUE(turns.begin_if_due());
  EXPECT_TRUE(turns.is_turn());
  EXPECT_FALSE(turns.begin_if_due());
}

TEST(GuardTurns, DoNotRestAtAnyPrice) {
  GuardTurns turns;
  turns.set(100);
  EXPECT_FALSE(turns.end(1'000));
  EXPECT_TRUE(turns.is_turn());
}

TEST(GuardTurns, AreNoneAnyMore) {
  GuardTurns turns;
  turns.set(5'000);
  EXPECT_TRUE(turns.end(1'000));
  turns.set(0);
  EXPECT_FALSE(turns.is_turn());
  EXPECT_FALSE(turns.begin_if_due());
}

}  // namespace
}  // namespace tarn::internal
