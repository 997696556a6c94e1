#include "engine/rounds/rounds.h"

#include "engine/rounds/statistics.h"
#include "engine/rounds/workload.h"
#include "support/error_of.h"
#include "support/prelude.h"
#include "system/files/usage_error.h"

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

double value_in(const std::string& metric, const std::string& output) {
  const auto found = parse_load_metric(metric).value_in(output);
  return found ? found->value : -1;
}

std::string complaint_about(const std::string& metric) {
  return test::error_of<UsageError>([&] { parse_load_metric(metric); });
}

TEST(LoadMetric, IsANameAndAnExpressionThatMayHoldAnEqualsSign) {
  EXPECT_EQ(parse_load_metric("p99=p99=([0-9.]+)").name, "p99");
  EXPECT_EQ(value_in("p99=p99=([0-9.]+)", "SET: 1000 requests, p99=12.5\n"), 12.5);
}

TEST(LoadMetric, TheLastLineThatMatchesCounts) {
  EXPECT_EQ(value_in("rate=rate ([0-9]+)", "rate 1\nrate 2\nthe end\n"), 2);
  EXPECT_EQ(value_in("rate=^rate ([0-9]+)$", "rate 1\nrate 2 \n"), 1);
}

TEST(LoadMetric, AUnitIsReadInTheGroupOrRightBehindIt) {
  EXPECT_DOUBLE_EQ(value_in("p99=99% +([0-9.]+ms)", "99%   1.20ms"), 0.00120);
  EXPECT_DOUBLE_EQ(value_in("p99=99% +([0-9.]+)", "99%   1.20ms"), 0.00120);
  EXPECT_DOUBLE_EQ(value_in("p99=99% +([0-9.]+)", "99%   950.00us"), 0.00095);
  EXPECT_DOUBLE_EQ(value_in("p99=99% +([0-9.]+)", "99%   950.00µs"), 0.00095);
  EXPECT_DOUBLE_EQ(value_in("p99=99% +([0-9.]+)", "99%   950.00\u03bcs"), 0.00095);
  EXPECT_DOUBLE_EQ(value_in("p99=99% +([0-9.]+)", "99%   2s"), 2);
  EXPECT_DOUBLE_EQ(value_in("rate=([0-9.]+)", "12.5k"), 12500);
  EXPECT_DOUBLE_EQ(value_in("rate=([0-9.]+M)", "3M/s"), 3e6);
  EXPECT_DOUBLE_EQ(value_in("count=([0-9.]+)", "7seconds"), 7) << "seconds is another word than s";
}

TEST(LoadMetric, AUnitOfTimeMakesATimeAndOneOfMemoryBytes) {
  EXPECT_EQ(parse_load_metric("a=([0-9]+)").value_in("5 KiB")->quantity, Quantity::kCount);
  EXPECT_EQ(parse_load_metric("a=([0-9]+)").value_in("5MiB")->quantity, Quantity::kBytes);
  EXPECT_EQ(value_in("a=([0-9.]+)", "1.5KiB"), 1536);
  EXPECT_EQ(value_in("a=([0-9]+GiB)", "2GiB"), 2147483648.0);
  EXPECT_EQ(parse_load_metric("a=([0-9]+)").value_in("5ms")->quantity, Quantity::kSeconds);
  EXPECT_EQ(parse_load_metric("a=([0-9]+)").value_in("5k")->quantity, Quantity::kCount);
  EXPECT_EQ(parse_load_metric("a=([0-9]+)").value_in("5")->quantity, Quantity::kCount);
}

TEST(LoadMetric, WhatIsNoNumberIsNoValue) {
  EXPECT_FALSE(parse_load_metric("a=a (.*)").value_in("a fast one\n"));
  EXPECT_FALSE(parse_load_metric("a=a (.*)").value_in("a 5 and more\n"));
  EXPECT_FALSE(parse_load_metric("a=a|b([0-9])").value_in("a\n"));
  EXPECT_FALSE(parse_load_metric("a=([0-9]+)").value_in(""));
}

TEST(LoadMetric, ALineWithoutEndDoesNotExhaustTheStack) {
  EXPECT_EQ(value_in("a=([0-9]).*", "7" + std::string(10 << 20, 'x')), 7);
}

TEST(LoadMetric, WhatCannotBeReadIsRefusedInOneLine) {
  EXPECT_EQ(complaint_about("p99"), "--metric is NAME=REGEX, not \"p99\"");
  EXPECT_EQ(complaint_about("=([0-9]+)"), "--metric is NAME=REGEX, not \"=([0-9]+)\"");
  EXPECT_EQ(complaint_about("p99="), "--metric is NAME=REGEX, not \"p99=\"");
  EXPECT_TRUE(complaint_about("p99=([0-9]+").starts_with("--metric p99=([0-9]+: no regular expression: "));
  EXPECT_EQ(complaint_about("p99=[0-9]+"),
            "--metric p99=[0-9]+: has no group ( ) around the number, as in p99=99% +([0-9.]+)");
  for (const char* metric : {"p99=([0-9]+", "p99=*", "p99=[z-a]"})
    EXPECT_EQ(complaint_about(metric).find('\n'), std::string::npos) << metric;
}

TEST(LoadMetric, ACarriageReturnEndsALine) {
  const LoadMetric metric = parse_load_metric("set=^SET: ([0-9.]+) requests");
  EXPECT_EQ(metric.value_in("SET: rps=12.0\rSET: 345.5 requests per second\n")->value, 345.5);
}

TEST(LoadMetric, APlusBeforeTheNameSaysThatMoreIsBetter) {
  const LoadMetric metric = parse_load_metric("+rate=([0-9]+)");
  EXPECT_EQ(metric.name, "rate");
  EXPECT_TRUE(metric.is_more_better);
  EXPECT_FALSE(parse_load_metric("rate=([0-9]+)").is_more_better);
  EXPECT_THROW(parse_load_metric("+=([0-9]+)"), UsageError);
}

TEST(Statistics, MedianOfAnOddCountIsTheMiddleValue) { EXPECT_EQ(summarize({9, 1, 5}).median, 5); }

TEST(Statistics, MedianOfAnEvenCountLiesBetweenTheMiddleValues) {
  EXPECT_EQ(summarize({4, 1, 3, 2}).median, 2.5);
}

TEST(Statistics, QuartilesAreInterpolated) {
  const Summary summary = summarize({1, 2, 3, 4});
  EXPECT_DOUBLE_EQ(summary.lower_quartile, 1.75);
  EXPECT_DOUBLE_EQ(summary.upper_quartile, 3.25);
  EXPECT_DOUBLE_EQ(summary.spread(), 0.75);
}

TEST(Statistics, OneDisturbedRoundDoesNotWidenTheSpread) {
  EXPECT_EQ(summarize({10, 10, 10, 10, 1000}).spread(), 0);
  EXPECT_EQ(summarize({10, 10, 10, 10, 1000}).maximum, 1000);
}

TEST(Statistics, SpreadPercentIsRelativeToTheMedian) {
  EXPECT_DOUBLE_EQ(summarize({90, 95, 100, 105, 110}).spread_percent(), 5);
  EXPECT_EQ(summarize({0, 0, 0}).spread_percent(), 0);
}

TEST(Statistics, NothingMeasuredSummarizesToNothing) { EXPECT_EQ(summarize({}).count, 0u); }

TEST(Statistics, OneValueIsItsOwnQuartiles) {
  const Summary summary = summarize({7});
  EXPECT_EQ(summary.lower_quartile, 7);
  EXPECT_EQ(summary.upper_quartile, 7);
}

TEST(Statistics, MediansCloserThanBothSpreadsTogetherAreEqual) {
  const Summary best = summarize({90, 95, 100, 105, 110});
  EXPECT_TRUE(is_within_noise(summarize({99, 104, 109, 114, 119}), best));
  EXPECT_FALSE(is_within_noise(summarize({101, 106, 111, 116, 121}), best));
}

TEST(Statistics, HalfAPercentIsNeverADifference) {
  EXPECT_TRUE(is_within_noise(summarize({1004, 1004, 1004}), summarize({1000, 1000, 1000})));
  EXPECT_FALSE(is_within_noise(summarize({1006, 1006, 1006}), summarize({1000, 1000, 1000})));
}

TEST(Statistics, ASingleRoundIsEqualToNothingButItself) {
  EXPECT_FALSE(is_within_noise(summarize({1001}), summarize({1000})));
  EXPECT_TRUE(is_within_noise(summarize({1000}), summarize({1000})));
}

TEST(Statistics, AMeanOfRowsIsADifferenceWhereItIsBeyondTheirNoise) {
  const Summary base = summarize({90, 95, 100, 105, 110});
  MeanRatio equal, less;
  equal.add(summarize({92, 97, 102, 107, 112}), base);
  equal.add(summarize({88, 93, 98, 103, 108}), base);
  EXPECT_TRUE(equal.is_within_noise());
  EXPECT_EQ(equal.less() + equal.more(), 0u);
  less.add(summarize({45, 48, 50, 52, 55}), base);
  less.add(summarize({92, 97, 102, 107, 112}), base);
  EXPECT_FALSE(less.is_within_noise());
  EXPECT_EQ(less.less(), 1u);
  EXPECT_NEAR(less.mean(), 0.714, 0.001);  // of 0.5 and 1.02
}

}  // namespace
}  // namespace tarn::tool
