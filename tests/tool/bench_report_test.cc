// Tables of a benchmark run.
#include "bench/bench_report.h"

#include <gtest/gtest.h>

#include "bench_samples.h"

namespace tarn::tool {
namespace {

TEST(BenchReport, ASourcesTableHoldsMeansOfRatios) {
  EXPECT_EQ(source_table(sample_document(), "002").render(Colour::kOff),
            "         speed      memory, less is better\n"
            "         fixed      peak    after\n"
            "tarn      0.71 *    1.00 *   1.00 *\n"
            "glibc     0.71 *    2.00     1.00 *\n");
}

TEST(BenchReport, ASourceWithoutFiguresHasNoTable) {
  EXPECT_TRUE(source_table(sample_document(), "000").is_empty());
}

TEST(BenchReport, TarnsStandingIsToldInWords) {
  const std::string text = bench_report(sample_document(), Detail::kGroups, Colour::kOff);
  EXPECT_NE(
      text.find(
          "tarn: as fast as the best other malloc of each row within the noise, on average; worst 0.50, "
          "002_fixed 64\n"),
      std::string::npos)
      << text;
}

TEST(BenchReport, RowsAreToldWhereTheyAreAskedFor) {
  const std::string without = bench_report(sample_document(), Detail::kGroups, Colour::kOff);
  const std::string with = bench_report(sample_document(), Detail::kRows, Colour::kOff);
  EXPECT_EQ(without.find("fifo/64"), std::string::npos);
  EXPECT_NE(with.find("fifo/64    40 ±0%        10 ±0% *\n"), std::string::npos) << with;
}

TEST(BenchReport, PhasesAreTablesOfTheirOwnBehindTheRows) {
  BenchDocument document = sample_document();
  document.results.groups[0].rows[1].runs[1][0]["free_ns"] = 7;
  const std::string text = bench_report(document, Detail::kRows, Colour::kOff);
  EXPECT_NE(text.find("\nfree_ns  tarn    glibc\n64                   7 *\n"), std::string::npos) << text;
}

TEST(BenchReport, FiguresOfFewRoundsAreToldBelowTheTables) {
  BenchDocument document = sample_document();
  document.results.groups[0].rows[0].runs[0][0]["rounds"] = 5;
  EXPECT_NE(
      bench_report(document, Detail::kGroups, Colour::kOff).find("rests on 5 rounds of its workload or more"),
      std::string::npos);
  document.results.groups[0].rows[0].runs[0][0]["rounds"] = 2;
  const std::string text = bench_report(document, Detail::kGroups, Colour::kOff);
  EXPECT_NE(text.find("1 figures rest on fewer than 5 rounds"), std::string::npos) << text;
  EXPECT_NE(text.find("    002_fixed 4, tarn: 2\n"), std::string::npos) << text;
}

TEST(BenchReport, AQuickRunSaysWhatItLeavesOut) {
  BenchDocument document = sample_document();
  EXPECT_EQ(bench_report(document, Detail::kGroups, Colour::kOff).find("--quick leaves out"),
            std::string::npos);
  document.header["quick"] = true;
  EXPECT_NE(bench_report(document, Detail::kGroups, Colour::kOff).find("--quick leaves out"),
            std::string::npos);
}

TEST(BenchReport, AMeanOverFewerRowsIsMarkedAndNeverTheBest) {
  BenchDocument document = sample_document();
  document.results.groups[0].rows[1].runs.erase(0);
  EXPECT_EQ(source_table(document, "002").render(Colour::kOff),
            "         speed      memory, less is better\n"
            "         fixed      peak    after\n"
            "tarn      1.00 ~    1.00 ~   1.00 ~\n"
            "glibc     0.71 *    1.41 *   1.00 *\n");
}

TEST(BenchReport, FailuresAndInterruptionsAreTold) {
  BenchDocument document = sample_document();
  document.results.failures.push_back(
      {"boost-pool", "", {"could not be preloaded: no", "round 1", {"line"}}});
  document.results.interrupted_by = 2;
  document.results.rounds_done = 1;
  const std::string text = bench_report(document, Detail::kGroups, Colour::kOff);
  EXPECT_NE(text.find("1 of 3 rounds, scale 1, interrupted\n"), std::string::npos) << text;
  EXPECT_NE(text.find("FAILED boost-pool everywhere: could not be preloaded: no (round 1)\n    line\n"),
            std::string::npos)
      << text;
}

TEST(BenchReport, NothingMeasuredIsSaid) {
  BenchDocument document = sample_document();
  document.results.groups.clear();
  EXPECT_NE(bench_report(document, Detail::kGroups, Colour::kOff).find("Nothing was measured.\n"),
            std::string::npos);
}

}  // namespace
}  // namespace tarn::tool
