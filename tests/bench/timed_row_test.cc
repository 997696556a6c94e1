// How often a row repeats its round, and what is told of that.
#include "timed_row.h"

#include "support/prelude.h"

namespace tarn::bench {
namespace {

/// Counts what is done with it.
struct Work {
  unsigned* verified;
  unsigned* rounds;

  void verify(Worker&) { ++*verified; }
  void round() { ++*rounds; }
};

TEST(TimedRow, ARowWhoseTimeIsOverAtOnceHasFiveRoundsAllTheSame) {
  unsigned verified = 0, rounds = 0;
  const Timing timing = time_rounds(1, 0, [&](unsigned) { return Work{&verified, &rounds}; });
  EXPECT_EQ(verified, 1u);
  EXPECT_EQ(rounds, kWarmUpRounds + kLeastRounds);
  EXPECT_EQ(timing.least_rounds, kLeastRounds);
}

TEST(TimedRow, EveryThreadHasItsFiveRounds) {
  unsigned verified[4] = {}, rounds[4] = {};
  const Timing timing = time_rounds(4, 0, [&](unsigned i) { return Work{&verified[i], &rounds[i]}; });
  for (const unsigned of_thread : rounds) EXPECT_EQ(of_thread, kWarmUpRounds + kLeastRounds);
  EXPECT_EQ(timing.rounds, 4 * kLeastRounds);
  EXPECT_EQ(timing.least_rounds, kLeastRounds);
}

TEST(TimedRow, WorkThatTakesTimesForgetsThoseBeforeTheRoundsThatCount) {
  struct Timed : Work {
    void forget_times() { *rounds = 0; }
  };
  unsigned verified = 0, rounds = 0;
  time_rounds(1, 0, [&](unsigned) { return Timed{{&verified, &rounds}}; });
  EXPECT_EQ(rounds, kLeastRounds);
}

TEST(TimedRow, SlowRoundsWarmUpOnce) {
  struct Slow : Work {
    void round() {
      Work::round();
      for (const std::uint64_t start_ns = now_ns(); now_ns() - start_ns < kLongestWarmUpNs;) {
      }
    }
  };
  unsigned verified = 0, rounds = 0;
  time_rounds(1, 0, [&](unsigned) { return Slow{{&verified, &rounds}}; });
  EXPECT_EQ(rounds, 1 + kLeastRounds);
}

TEST(TimedRow, ARowGoesOnUntilItsTimeIsOver) {
  unsigned verified = 0, rounds = 0;
  const Timing timing = time_rounds(1, 1e6, [&](unsigned) { return Work{&verified, &rounds}; });
  EXPECT_GT(timing.rounds, kLeastRounds);
  EXPECT_GE(timing.wall_ns, 1e6);
}

TEST(TimedRow, TheLeastRoundsAreThoseOfTheThreadThatMadeFewest) {
  Laps laps;
  laps[0] = {100, 200, 9};
  laps[1] = {90, 250, 6};
  const Timing timing = timing_of(laps, 2);
  EXPECT_EQ(timing.least_rounds, 6u);
  EXPECT_EQ(timing.rounds, 15u);
  EXPECT_EQ(timing.wall_ns, 160);
}

TEST(TimedRow, TheFigureIsTheWallTimeOfAnOperationOfAllThreads) {
  Request request;
  Session session(request);
  session.enter("group");
  ::testing::internal::CaptureStdout();
  report_rounds(session, {.bytes = 64}, {.wall_ns = 3000, .rounds = 15, .least_rounds = 6}, 10);
  const std::string line = ::testing::internal::GetCapturedStdout();
  EXPECT_NE(line.find("\"ns\":20.000,\"operations\":150,\"rounds\":6,"), std::string::npos) << line;
}

}  // namespace
}  // namespace tarn::bench
