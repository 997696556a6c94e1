#include "engine/rounds/rounds.h"

#include <gtest/gtest.h>

namespace tarn::tool {
namespace {

RoundsPlan plan_of(std::size_t groups, std::size_t contenders, int rounds) {
  RoundsPlan plan = {.groups = {}, .contenders = {}, .seats = {}};
  for (std::size_t group = 0; group < groups; ++group) {
    plan.groups.push_back("group");
    for (std::size_t contender = 0; contender < contenders; ++contender)
      plan.seats.push_back({.group = group, .contender = contender, .rounds = rounds});
  }
  plan.contenders.assign(contenders, "contender");
  return plan;
}

/// The turns as "round:group/contender", and how many rounds were complete.
struct Course {
  std::vector<std::string> turns;
  int completed = 0;
};

Course run(RoundsPlan plan, const std::function<TurnEnd(const std::string&)>& end_of) {
  Progress progress(ProgressStyle::kNone);
  Course course;
  course.completed = Rounds(std::move(plan), progress).to_end([&](const Turn& turn) {
    course.turns.push_back(std::to_string(turn.round) + ":" + std::to_string(turn.group) + "/" +
                           std::to_string(turn.contender));
    return end_of(course.turns.back());
  });
  return course;
}

TurnEnd done(const std::string&) { return TurnEnd::kDone; }

using Turns = std::vector<std::string>;

TEST(Rounds, EachRoundOfAGroupBeginsWithAnotherContender) {
  EXPECT_EQ(run(plan_of(1, 3, 3), done).turns,
            (Turns{"0:0/0", "0:0/1", "0:0/2", "1:0/1", "1:0/2", "1:0/0", "2:0/2", "2:0/0", "2:0/1"}));
}

TEST(Rounds, ARoundGoesThroughAllGroups) {
  const Course course = run(plan_of(2, 2, 1), done);
  EXPECT_EQ(course.turns, (Turns{"0:0/0", "0:0/1", "0:1/0", "0:1/1"}));
  EXPECT_EQ(course.completed, 1);
}

TEST(Rounds, ASeatThatIsOutHasNoMoreTurnsInItsGroup) {
  const Course course = run(plan_of(2, 2, 2), [](const std::string& turn) {
    return turn == "0:0/1" ? TurnEnd::kSeatIsOut : TurnEnd::kDone;
  });
  EXPECT_EQ(course.turns, (Turns{"0:0/0", "0:0/1", "0:1/0", "0:1/1", "1:0/0", "1:1/1", "1:1/0"}));
}

TEST(Rounds, AContenderThatIsOutHasNoMoreTurnsAnywhere) {
  const Course course = run(plan_of(2, 2, 2), [](const std::string& turn) {
    return turn == "0:0/1" ? TurnEnd::kContenderIsOut : TurnEnd::kDone;
  });
  EXPECT_EQ(course.turns, (Turns{"0:0/0", "0:0/1", "0:1/0", "1:0/0", "1:1/0"}));
}

TEST(Rounds, AnInterruptedTurnIsTheLast) {
  const Course course = run(plan_of(1, 2, 3), [](const std::string& turn) {
    return turn == "1:0/1" ? TurnEnd::kInterrupted : TurnEnd::kDone;
  });
  EXPECT_EQ(course.turns, (Turns{"0:0/0", "0:0/1", "1:0/1"}));
  EXPECT_EQ(course.completed, 1);
}

TEST(Rounds, WarmUpsComeFirstAndAreNoRounds) {
  RoundsPlan plan = plan_of(1, 1, 2);
  plan.warmups = 1;
  Progress progress(ProgressStyle::kNone);
  Turns when;
  const int completed = Rounds(std::move(plan), progress).to_end([&](const Turn& turn) {
    when.push_back(turn.when + (turn.is_warmup ? ", verified only" : ""));
    return TurnEnd::kDone;
  });
  EXPECT_EQ(when, (Turns{"warm-up 1, verified only", "round 1", "round 2"}));
  EXPECT_EQ(completed, 2);
}

TEST(Rounds, ASeatHasItsOwnNumberOfRounds) {
  RoundsPlan plan = plan_of(2, 1, 1);
  plan.seats[1].rounds = 3;
  const Course course = run(std::move(plan), done);
  EXPECT_EQ(course.turns, (Turns{"0:0/0", "0:1/0", "1:1/0", "2:1/0"}));
  EXPECT_EQ(course.completed, 3);
}

}  // namespace
}  // namespace tarn::tool
