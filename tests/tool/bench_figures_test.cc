// What follows from samples.
#include "bench/bench_figures.h"

#include <gtest/gtest.h>

#include "bench_samples.h"

namespace tarn::tool {
namespace {

TEST(BenchFigures, TheBestOfARowIsTheSmallestMedian) {
  const BenchDocument document = sample_document();
  const std::vector<RowEntry> entries = entries_of(document.results.groups[0].rows[0]);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_TRUE(entries[0].is_best);
  EXPECT_DOUBLE_EQ(entries[0].own.median, 10);
  EXPECT_DOUBLE_EQ(entries[0].ratio, 1);
  EXPECT_FALSE(entries[1].is_best);
  EXPECT_FALSE(entries[1].is_equal);
  EXPECT_DOUBLE_EQ(entries[1].ratio, 0.5);
}

TEST(BenchFigures, WhatDiffersByLessThanTheNoiseIsEqual) {
  const RowSamples samples =
      row_with("002_fixed", "4", 4,
               {{0, runs_of({10, 12, 8})}, {1, runs_of({11, 9, 13})}, {2, runs_of({14, 14, 14})}});
  const std::vector<RowEntry> entries = entries_of(samples);
  EXPECT_TRUE(entries[0].is_best);
  EXPECT_TRUE(entries[1].is_equal);
  EXPECT_FALSE(entries[2].is_equal);
}

TEST(BenchFigures, AFigureThatAContenderDoesNotHaveIsLeftOut) {
  RowSamples samples = row_with("002_fixed", "4", 4, {{0, runs_of({10})}, {1, runs_of({20})}});
  samples.runs[0][0]["p99_ns"] = 5;
  const std::vector<RowEntry> entries = entries_of(samples, "p99_ns");
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].contender, 0u);
}

TEST(BenchFigures, TheGeometricMeanOfRatiosIsThatOfTheirLogarithms) {
  EXPECT_DOUBLE_EQ(*geometric_mean({1, 4}), 2);
  EXPECT_DOUBLE_EQ(*geometric_mean({2, 2, 2}), 2);
  EXPECT_FALSE(geometric_mean({}).has_value());
}

TEST(BenchFigures, RatiosOfTimesAreSpeedsAndThoseOfMemoryAreMultiples) {
  const BenchDocument document = sample_document();
  EXPECT_EQ(ratios_in(document.results.groups[0], 0), (std::vector<double>{1, 0.5}));
  EXPECT_EQ(ratios_in(document.results.groups[0], 1), (std::vector<double>{0.5, 1}));
  EXPECT_EQ(ratios_in(document.results.groups[0], 1, kPeakMemory), (std::vector<double>{2, 2}));
  EXPECT_TRUE(ratios_in(document.results.groups[1], 0).empty());
}

TEST(BenchFigures, StandingIsTheBestOthersTimeOverOnesOwn) {
  const BenchDocument document = sample_document();
  const auto standing = standing_of(document, 0, groups_of_source(document, "002"));
  ASSERT_TRUE(standing.has_value());
  EXPECT_DOUBLE_EQ(standing->mean, 1);
  EXPECT_DOUBLE_EQ(standing->worst, 0.5);
  EXPECT_EQ(standing->worst_row, "002_fixed 64");
  EXPECT_EQ(standing->row_count, 2u);
  EXPECT_FALSE(standing_of(document, 0, groups_of_source(document, "003")).has_value());
}

DocumentContender contender(ContenderKind kind, bool is_synchronised = true) {
  return {"one", kind, "", "", is_synchronised};
}

TEST(BenchFigures, APoolsRivalsAreEveryMallocAndPoolsOfItsKind) {
  const DocumentContender shared = contender(ContenderKind::kTarnPool);
  const DocumentContender unshared = contender(ContenderKind::kTarnPool, false);
  for (const DocumentContender& own : {shared, unshared}) {
    EXPECT_TRUE(are_rivals(own, contender(ContenderKind::kSystem)));
    EXPECT_TRUE(are_rivals(own, contender(ContenderKind::kInline)));
    EXPECT_FALSE(are_rivals(own, contender(ContenderKind::kTarn)));
  }
  EXPECT_TRUE(are_rivals(shared, contender(ContenderKind::kPool)));
  EXPECT_FALSE(are_rivals(shared, contender(ContenderKind::kPool, false)));
  EXPECT_TRUE(are_rivals(unshared, contender(ContenderKind::kPool, false)));
  EXPECT_FALSE(are_rivals(unshared, contender(ContenderKind::kPool)));
}

TEST(BenchFigures, InlinedMallocsAreRivalsOfTheInlinedOne) {
  const DocumentContender other = contender(ContenderKind::kInline);
  EXPECT_TRUE(are_rivals(contender(ContenderKind::kTarnInline), other));
  EXPECT_FALSE(are_rivals(contender(ContenderKind::kTarn), other));
  EXPECT_FALSE(are_rivals(contender(ContenderKind::kTarn), contender(ContenderKind::kPool)));
}

TEST(BenchFigures, RowsOfFewRoundsAreNamedLeastFirstAndColdOnesNever) {
  BenchDocument document = sample_document();
  std::vector<RowSamples>& rows = document.results.groups[0].rows;
  EXPECT_TRUE(rows_of_few_rounds(document, 100).empty());  // of a version that did not tell
  rows[0].runs[0][1]["rounds"] = 3;
  rows[1].runs[1][0]["rounds"] = 1;
  rows[1].runs[0][0]["rounds"] = 5;
  const std::vector<RoundsOfRow> few = rows_of_few_rounds(document, 4);
  ASSERT_EQ(few.size(), 2u);
  EXPECT_EQ(few[0].least, 1u);
  EXPECT_EQ(few[0].where, "002_fixed 64, glibc");
  EXPECT_EQ(few[1].where, "002_fixed 4, tarn");
  rows[1].row.is_cold = true;
  EXPECT_EQ(rows_of_few_rounds(document, 4).size(), 1u);
}

}  // namespace
}  // namespace tarn::tool
