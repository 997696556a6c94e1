#include <fmt/format.h>
#include <gtest/gtest.h>

#include "bench/figures/bench_report.h"
#include "bench_samples.h"
#include "page_of.h"

namespace tarn::tool {
namespace {

TEST(BenchPage, TheSentenceSaysHowFastTarnIs) {
  // Half of glibc's time in one row, twice in the other: no difference as a mean.
  const std::string sentence = document_in(bench_page(sample_document())).at("sentence").get<std::string>();
  EXPECT_TRUE(sentence.starts_with("tarn is as fast as glibc within the noise and ")) << sentence;
}

TEST(BenchPage, TheOverviewIsInSpeedsOfWhichTheBestIsOne) {
  const Json overview = part_titled(document_in(bench_page(sample_document())),
                                    "Speed beside the best of each row; more is better");
  const Json rows = overview.at("rows");
  EXPECT_TRUE(rows[0].at("head").get<std::string>().starts_with("002: "));
  EXPECT_EQ(rows[1][0].at("text"), "One size");
  EXPECT_EQ(rows[1][0].at("link"), "group-002_fixed");
  EXPECT_EQ(rows[1][1].at("text"), "0.71");  // the mean of 1 and 0.5
  // In 003_fixed Boost takes a quarter of glibc's time; tarn has not run.
  EXPECT_EQ(rows[3][1], Json({{"text", "–"}, {"mark", "none"}}));
  EXPECT_EQ(rows[3][2], "0.25");
}

TEST(BenchPage, RowsOfSeveralSizesAreOneFigureOfLines) {
  const Json figure = part_titled(document_in(bench_page(sample_document())), "1 thread");
  EXPECT_EQ(figure.at("kind"), "lines");
  EXPECT_EQ(figure.at("x"), Json({{"title", "bytes"}, {"labels", {"4", "64"}}}));
  EXPECT_EQ(figure.at("series")[0].at("points")[1], Json::array({1, 40.0, 39.5, 40.5}));
}

TEST(BenchPage, ARowAloneIsBarsWithTheBestFirst) {
  const Json figure = part_titled(document_in(bench_page(sample_document())), "1 thread, 64 bytes");
  EXPECT_EQ(figure.at("kind"), "bars");
  EXPECT_EQ(figure.at("bars")[0], Json({{"c", 2}, {"value", 10.0}, {"note", "best"}}));
}

TEST(BenchPage, MoreContendersThanLinesCanBeToldApartAreATable) {
  BenchDocument document = sample_document();
  for (std::size_t i = 3; i < 12; ++i) {
    document.contenders.push_back({fmt::format("other-{}", i), ContenderKind::kPool, "", ""});
    for (RowSamples& row : document.results.groups[0].rows) row.runs[i] = runs_of({100.0 + i});
  }
  const Json table = part_titled(document_in(bench_page(document)), "1 thread");
  EXPECT_EQ(table.at("kind"), "table");
  EXPECT_EQ(table.at("rows").size(), 11u);
}

TEST(BenchPage, ARunWithoutResultsSaysSo) {
  BenchDocument document = sample_document();
  document.results.groups.clear();
  EXPECT_EQ(document_in(bench_page(document)).at("warnings"), Json::array({"There are no results."}));
}

}  // namespace
}  // namespace tarn::tool
