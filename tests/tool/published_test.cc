// What the sources published beside what is measured.
#include "bench/published.h"

#include <gtest/gtest.h>

#include "bench_samples.h"

namespace tarn::tool {
namespace {

const SourceInfo& source(const std::string& id) {
  for (const SourceInfo& one : bench_sources())
    if (one.id == id) return one;
  throw std::out_of_range("no source " + id);
}

TEST(Published, ASourcesDesignIsToldBesideItsComparisonAndTarn) {
  BenchDocument document = sample_document();
  document.contenders.push_back({"source-002", ContenderKind::kPool, "", ""});
  document.results.groups[0].rows[0].runs[3] = runs_of({5, 5, 5});
  document.results.groups[0].rows[1].runs[3] = runs_of({20, 20, 20});
  const std::string text = words_on_designs(document, source("002"));
  EXPECT_NE(text.find("source-002, this design: 2.00 times as fast as glibc (worst row 1.00). Beside "
                      "source-002: tarn 0.50 (0.50).\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(words_on_designs(document, source("003")), "");
}

TEST(Published, TimesAsFastGoFromTheLeastToTheMostOfTheBlockSizes) {
  const std::string text = words_on_designs(sample_document(), source("002"));
  EXPECT_EQ(text,
            "one size, one thread: 1.4 to 6.7 times as fast as glibc published; here tarn 0.50 to 2.00\n");
}

TEST(Published, PercentLessTimeIsOfTheSumOfAllocatingAndFreeing) {
  BenchDocument document = sample_document();
  document.contenders = {{"tarn", ContenderKind::kTarn, "", ""}, {"vector", ContenderKind::kPool, "", ""}};
  const auto row = [](const char* series, double own, double other) {
    RowSamples samples =
        row_with("000_single", std::string(series) + "/32", 32, {{0, runs_of({own})}, {1, runs_of({other})}});
    samples.row.series = series;
    return samples;
  };
  document.results.groups = {
      {"000_single", {row("allocate", 10, 30), row("free", 10, 10), row("pairs", 1, 100)}}};
  EXPECT_EQ(words_on_designs(document, source("000")),
            "one thread: 20 to 62 % less time than vector published; here tarn 50 to 50 %\n");
}

TEST(Published, WithoutWhatASourceComparedWithNothingIsSaid) {
  BenchDocument document = sample_document();
  document.contenders[1].name = "mimalloc";
  EXPECT_EQ(words_on_designs(document, source("002")), "");
}

}  // namespace
}  // namespace tarn::tool
