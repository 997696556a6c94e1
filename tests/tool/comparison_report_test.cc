#include "compare/comparison_report.h"

#include <gtest/gtest.h>

#include "report/results.h"

namespace tarn::tool {
namespace {

Measurement run_of(double seconds, std::uint64_t bytes) {
  return {.wall_seconds = seconds, .user_seconds = seconds, .peak_rss_bytes = bytes, .minor_faults = 100};
}

Contender contender(const char* name, double seconds, std::uint64_t bytes) {
  return {{name, name == std::string(kSystemName) ? "" : "/x.so"},
          std::vector<Measurement>(3, run_of(seconds, bytes)),
          std::nullopt};
}

Contender failed(const char* name, const char* what, double seconds = 1) {
  Contender result = contender(name, seconds, 1 << 20);
  result.failure = Failure{what, "round 2", {"its last words"}};
  return result;
}

ComparisonPlan plan() {
  return {.command = {"prog"},
          .allocators = {},
          .environment = Environment(std::vector<std::string>{}),
          .tarn_settings = {}};
}

std::string row_of(const std::string& text, const std::string& name) {
  const std::size_t start = text.find("\n" + name) + 1;
  return text.substr(start, text.find('\n', start) - start);
}

TEST(ComparisonReport, TheBestOfAColumnIsMarkedAndOthersHaveTheirRatio) {
  const Comparison comparison = {{contender("glibc", 2, 1 << 20), contender("tarn", 1, 2 << 20)}};
  const std::string text = comparison_table(comparison).render(Colour::kOff);
  EXPECT_NE(row_of(text, "glibc").find("2.000  ±0.0%  2.00"), std::string::npos) << text;
  EXPECT_NE(row_of(text, "tarn").find("1.000  ±0.0%  1.00 *"), std::string::npos) << text;
}

TEST(ComparisonReport, WhatIsAsGoodWithinTheNoiseIsMarkedEqual) {
  const Comparison comparison = {{contender("glibc", 1.004, 1), contender("tarn", 1, 1)}};
  EXPECT_NE(row_of(comparison_table(comparison).render(Colour::kOff), "glibc").find("1.00 ="),
            std::string::npos);
}

TEST(ComparisonReport, ARunThatFailedIsNeverComparedAndIsNamed) {
  const Comparison comparison = {{contender("glibc", 2, 1), failed("fast", "exit status 3", 0.001)}};
  const std::string text = comparison_report(plan(), comparison, Colour::kOff);
  EXPECT_EQ(comparison_table(comparison).render(Colour::kOff).find("fast"), std::string::npos);
  EXPECT_EQ(best_of(comparison, kMetrics[0]).median, 2);
  EXPECT_NE(text.find("FAILED fast: exit status 3 (round 2)\n    its last words\n"), std::string::npos)
      << text;
}

TEST(ComparisonReport, AProgramThatFailsEverywhereIsReportedOnce) {
  const Comparison comparison = {{failed("glibc", "exit status 3"), failed("tarn", "exit status 3")}};
  EXPECT_EQ(failure_report(comparison, Colour::kOff),
            "FAILED under every allocator alike: exit status 3 (round 2)\n    its last words\n");
}

TEST(ComparisonReport, DifferentFailuresAreReportedOneByOne) {
  const Comparison comparison = {{failed("glibc", "exit status 3"), failed("tarn", "exit status 4")}};
  const std::string text = failure_report(comparison, Colour::kOff);
  EXPECT_NE(text.find("FAILED glibc: exit status 3"), std::string::npos);
  EXPECT_NE(text.find("FAILED tarn: exit status 4"), std::string::npos);
}

TEST(ComparisonReport, AnInterruptedComparisonSaysHowFarItCame) {
  Comparison comparison = {{contender("glibc", 2, 1)}};
  comparison.interrupted_by = 2;
  EXPECT_NE(comparison_report(plan(), comparison, Colour::kOff).find("3 rounds, interrupted"),
            std::string::npos);
}

TEST(Results, EveryRunAndTheRatiosAreInTheJson) {
  const Comparison comparison = {
      {contender("glibc", 2, 1), contender("tarn", 1, 1), failed("bad", "timeout")}};
  const Json json = compare_results(plan(), comparison);
  EXPECT_EQ(json["allocators"][1]["runs"].size(), 3u);
  EXPECT_EQ(json["allocators"][1]["summary"]["wall_seconds"]["ratio_to_system"], 0.5);
  EXPECT_EQ(json["allocators"][0]["summary"]["wall_seconds"]["ratio_to_best"], 2.0);
  EXPECT_EQ(json["allocators"][0]["library"], nullptr);
  EXPECT_EQ(json["allocators"][2]["failure"]["what"], "timeout");
  EXPECT_EQ(json["allocators"][2]["summary"], nullptr);
  EXPECT_FALSE(json["machine"]["kernel"].get<std::string>().empty());
}

TEST(Results, BytesThatAreNotUtf8DoNotBreakTheFile) {
  EXPECT_NE(text_of(Json{{"command", "\xff\xfe"}}).find("command"), std::string::npos);
}

}  // namespace
}  // namespace tarn::tool
