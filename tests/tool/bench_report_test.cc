// Tables of a benchmark run.
#include "bench/bench_report.h"

#include <gtest/gtest.h>

#include "bench_samples.h"

namespace tarn::tool {
namespace {

TEST(BenchReport, ASourcesTableHoldsMeansOfRatios) {
  EXPECT_EQ(source_table(sample_document(), "002").render(Colour::kOff),
            "       fixed    memory    after\n"
            "tarn    1.41 *    1.00 *   1.00 *\n"
            "glibc   1.41 *    2.00     1.00 *\n");
}

TEST(BenchReport, ASourceWithoutFiguresHasNoTable) {
  EXPECT_TRUE(source_table(sample_document(), "000").is_empty());
}

TEST(BenchReport, TarnsStandingIsToldInWords) {
  const std::string text = bench_report(sample_document(), Detail::kGroups, Colour::kOff);
  EXPECT_NE(
      text.find("tarn: 1.00 times as fast as the best other malloc of each row, on average; worst 0.50, "
                "002_fixed 64\n"),
      std::string::npos)
      << text;
}

TEST(BenchReport, ASourcesDesignIsToldBesideItsComparisonAndTarn) {
  BenchDocument document = sample_document();
  document.contenders.push_back({"source-002", ContenderKind::kPool, "", ""});
  document.results.groups[0].rows[0].runs[3] = runs_of({5, 5, 5});
  document.results.groups[0].rows[1].runs[3] = runs_of({20, 20, 20});
  const std::string text = bench_report(document, Detail::kGroups, Colour::kOff);
  EXPECT_NE(text.find("source-002, this design: 2.00 times as fast as glibc (worst row 1.00). Beside "
                      "source-002: tarn 0.50 (0.50).\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("source-003"), std::string::npos);
}

TEST(BenchReport, RowsAreToldWhereTheyAreAskedFor) {
  const std::string without = bench_report(sample_document(), Detail::kGroups, Colour::kOff);
  const std::string with = bench_report(sample_document(), Detail::kRows, Colour::kOff);
  EXPECT_EQ(without.find("fifo/64"), std::string::npos);
  EXPECT_NE(with.find("fifo/64    40 ±0%        10 ±0% *\n"), std::string::npos) << with;
}

TEST(BenchReport, AMeanOverFewerRowsIsMarkedAndNeverTheBest) {
  BenchDocument document = sample_document();
  document.results.groups[0].rows[1].runs.erase(0);
  EXPECT_EQ(source_table(document, "002").render(Colour::kOff),
            "       fixed    memory    after\n"
            "tarn    1.00 ~    1.00 ~   1.00 ~\n"
            "glibc   1.41 *    1.41 *   1.00 *\n");
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
