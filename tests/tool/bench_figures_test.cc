// What follows from samples: figures, their way to JSON and back, tables, and what the sources published.
#include "bench/figures/bench_figures.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "bench/figures/bench_document.h"
#include "bench/figures/bench_report.h"
#include "bench_samples.h"
#include "system/files/usage_error.h"

namespace tarn::tool {
namespace {

TEST(BenchFigures, TheBestOfARowIsTheSmallestMedian) {
  const BenchDocument document = sample_document();
  const std::vector<RowEntry> entries = entries_of(document.results.groups[0].rows[0]);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].mark, Mark::kBest);
  EXPECT_DOUBLE_EQ(entries[0].own.median, 10);
  EXPECT_DOUBLE_EQ(entries[0].times_the_best, 1);
  EXPECT_EQ(entries[1].mark, Mark::kPlain);
  EXPECT_DOUBLE_EQ(entries[1].times_the_best, 2);
}

TEST(BenchFigures, WhatDiffersByLessThanTheNoiseIsEqual) {
  const RowSamples samples =
      row_with("002_fixed", "4", 4,
               {{0, runs_of({10, 12, 8})}, {1, runs_of({11, 9, 13})}, {2, runs_of({14, 14, 14})}});
  const std::vector<RowEntry> entries = entries_of(samples);
  EXPECT_EQ(entries[0].mark, Mark::kBest);
  EXPECT_EQ(entries[1].mark, Mark::kEqual);
  EXPECT_EQ(entries[2].mark, Mark::kPlain);
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
  const RowSamples &first = document.results.groups[0].rows[0], &second = document.results.groups[0].rows[1];
  const auto means_in = [](const RowSamples& row, const std::string& metric = {}) {
    return means_of(std::vector<const RowSamples*>{&row}, metric);
  };
  EXPECT_DOUBLE_EQ(means_in(first)[0].speed(), 1);
  EXPECT_DOUBLE_EQ(means_in(first)[1].speed(), 0.5);
  EXPECT_DOUBLE_EQ(means_in(second)[0].speed(), 0.5);
  EXPECT_DOUBLE_EQ(means_in(second)[1].speed(), 1);
  for (const RowSamples* row : {&first, &second})
    EXPECT_DOUBLE_EQ(means_in(*row, kPeakMemory)[1].times_the_best, 2);
  const std::vector<Mean> means = means_of(rows_of({&document.results.groups[1]}));
  EXPECT_TRUE(std::none_of(means.begin(), means.end(), [](const Mean& one) { return one.contender == 0; }));
}

TEST(BenchFigures, StandingIsTheBestOthersTimeOverOnesOwn) {
  const BenchDocument document = sample_document();
  const MeanRatio standing = standing_of(document, 0, groups_of_source(document, "002"));
  EXPECT_EQ(standing.count(), 2u);
  EXPECT_DOUBLE_EQ(standing.mean_speed(), 1);
  EXPECT_DOUBLE_EQ(standing.worst_speed(), 0.5);
  EXPECT_EQ(standing.worst_row(), "002_fixed 64");
  EXPECT_EQ(standing_of(document, 0, groups_of_source(document, "003")).count(), 0u);
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

TEST(BenchDocument, JsonReadBackIsTheSame) {
  BenchDocument document = sample_document();
  document.results.failures.push_back(
      {"boost-pool", "002_fixed", {"ended by SIGSEGV", "round 2", {"oh", "no"}}});
  const std::string text = text_of(document);
  const Json json = Json::parse(text);
  EXPECT_EQ(json, to_json(document));
  EXPECT_EQ(text_of(document_from(json, "r.json")), text);
}

TEST(BenchDocument, FiguresOfFewerRoundsThanFiveAreNamed) {
  BenchDocument document = sample_document();
  EXPECT_TRUE(to_json(document)["few_rounds"].empty());
  for (Json& run : document.results.groups[0].rows[1].runs[1]) run["rounds"] = 4;
  EXPECT_EQ(to_json(document)["few_rounds"], Json::array({"002_fixed 64, glibc: 4"}));
}

TEST(BenchDocument, TheTextHasALinePerContenderAndRow) {
  const std::string text = text_of(sample_document());
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n') > 20, true);
  EXPECT_NE(text.find("\n   {\"name\":\"tarn\",\"summary\":{\"ns\":{\"median\":10.0,"), std::string::npos);
}

TEST(BenchDocument, OtherJsonIsRefusedWithItsReason) {
  EXPECT_THROW(document_from(Json::object(), "x.json"), UsageError);
  Json json = to_json(sample_document());
  json["machine"].erase("cpu");
  EXPECT_THROW(document_from(json, "x.json"), UsageError);
  json = to_json(sample_document());
  json["groups"][0]["rows"][0]["allocators"][0]["name"] = "stranger";
  try {
    document_from(json, "x.json");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "x.json is no result of `tarn bench`: no allocator stranger");
  }
}

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
