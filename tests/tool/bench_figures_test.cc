#include "bench/figures/bench_figures.h"

#include <fmt/format.h>

#include "bench/figures/bench_document.h"
#include "bench/figures/bench_report.h"
#include "bench/rows/catalogue.h"
#include "bench/rows/trace_rows.h"
#include "bench_samples.h"
#include "page_of.h"
#include "support/error_of.h"
#include "support/prelude.h"
#include "system/files/usage_error.h"

namespace tarn::tool {
namespace {

// -- What follows from samples: figures, their way to JSON and back, tables, and what the sources published.

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
  const std::string text = bench_report(sample_document(), BenchDetail::kGroups, Colour::kOff);
  EXPECT_NE(
      text.find(
          "tarn: as fast as the best other malloc of each row within the noise, on average; worst 0.50, "
          "002_fixed 64\n"),
      std::string::npos)
      << text;
}

TEST(BenchReport, RowsAreToldWhereTheyAreAskedFor) {
  const std::string without = bench_report(sample_document(), BenchDetail::kGroups, Colour::kOff);
  const std::string with = bench_report(sample_document(), BenchDetail::kRows, Colour::kOff);
  EXPECT_EQ(without.find("fifo/64"), std::string::npos);
  EXPECT_NE(with.find("fifo/64    40 ±0%        10 ±0% *\n"), std::string::npos) << with;
}

TEST(BenchReport, PhasesAreTablesOfTheirOwnBehindTheRows) {
  BenchDocument document = sample_document();
  document.results.groups[0].rows[1].runs[1][0]["free_ns"] = 7;
  const std::string text = bench_report(document, BenchDetail::kRows, Colour::kOff);
  EXPECT_NE(text.find("\nfree_ns  tarn    glibc\n64                   7 *\n"), std::string::npos) << text;
}

TEST(BenchReport, FiguresOfFewRoundsAreToldBelowTheTables) {
  BenchDocument document = sample_document();
  document.results.groups[0].rows[0].runs[0][0]["rounds"] = 5;
  EXPECT_NE(bench_report(document, BenchDetail::kGroups, Colour::kOff)
                .find("rests on 5 rounds of its workload or more"),
            std::string::npos);
  document.results.groups[0].rows[0].runs[0][0]["rounds"] = 2;
  const std::string text = bench_report(document, BenchDetail::kGroups, Colour::kOff);
  EXPECT_NE(text.find("1 figures rest on fewer than 5 rounds"), std::string::npos) << text;
  EXPECT_NE(text.find("    002_fixed 4, tarn: 2\n"), std::string::npos) << text;
}

TEST(BenchReport, AQuickRunSaysWhatItLeavesOut) {
  BenchDocument document = sample_document();
  EXPECT_EQ(bench_report(document, BenchDetail::kGroups, Colour::kOff).find("--quick leaves out"),
            std::string::npos);
  document.header["quick"] = true;
  EXPECT_NE(bench_report(document, BenchDetail::kGroups, Colour::kOff).find("--quick leaves out"),
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
  const std::string text = bench_report(document, BenchDetail::kGroups, Colour::kOff);
  EXPECT_NE(text.find("1 of 3 rounds, scale 1, interrupted\n"), std::string::npos) << text;
  EXPECT_NE(text.find("FAILED boost-pool everywhere: could not be preloaded: no (round 1)\n    line\n"),
            std::string::npos)
      << text;
}

TEST(BenchReport, NothingMeasuredIsSaid) {
  BenchDocument document = sample_document();
  document.results.groups.clear();
  EXPECT_NE(bench_report(document, BenchDetail::kGroups, Colour::kOff).find("Nothing was measured.\n"),
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

// -- The catalogue of sources and groups; what a replay wrote, as the lines of a benchmark program.

TEST(Catalogue, EveryGroupHasASourceOfItsOwnNumber) {
  for (const GroupInfo& group : bench_groups()) {
    EXPECT_STREQ(source_of(group).id, group.source);
    const std::string number = std::string(group.name).substr(0, 3);
    EXPECT_EQ(std::string(group.source).substr(0, 3), std::isdigit(number[0]) ? number : "our") << group.name;
  }
}

TEST(Catalogue, NamesAreDistinct) {
  std::set<std::string> names;
  for (const GroupInfo& group : bench_groups()) EXPECT_TRUE(names.insert(group.name).second) << group.name;
}

TEST(Catalogue, AGroupWithAMaximumIsFoundByAnyMaximum) {
  ASSERT_NE(find_group("001_8192"), nullptr);
  EXPECT_EQ(find_group("001_8192"), find_group("001_77"));
  EXPECT_EQ(title_of(*find_group("001_8192"), "001_8192"), "Random sizes up to 8192 bytes");
}

TEST(Catalogue, OtherGroupsAreFoundByTheirWholeName) {
  EXPECT_EQ(find_group("server"), find_group("server"));
  EXPECT_EQ(find_group("serve"), nullptr);
  EXPECT_EQ(find_group("servers"), nullptr);
  EXPECT_EQ(title_of(*find_group("server"), "server"), "A server in small");
}

constexpr const char* kReplay =
    R"({"seconds":0.002,"failed_calls":0,"malloc":"/lib/libmine.so","latency_ns":{"p50":20,"p99":40},)"
    R"("samples":[[0.001,3000,1000],[0.002,2000,2000]]})";

BenchRow row_of(const char* group, const char* metric) {
  return {.group = group, .name = "jq", .series = "", .metric = metric, .replay = {"script"}, .calls = 1000};
}

TEST(TraceRows, TheTimeOfAReplayIsToldPerCall) {
  const std::vector<Json> lines = lines_of_replay(row_of("traces", "ns"), kReplay);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].at("malloc"), "/lib/libmine.so");
  EXPECT_EQ(lines[1].at("row"), "jq");
  EXPECT_DOUBLE_EQ(lines[1].at("ns"), 2000);
  EXPECT_EQ(lines[1].at("p99_ns"), 40);
  EXPECT_EQ(lines[1].at("peak_rss_bytes"), 3000);
}

TEST(TraceRows, MemoryIsToldPerByteThatWasLiveAtMost) {
  const std::vector<Json> lines = lines_of_replay(row_of("traces_memory", "resident_per_byte"), kReplay);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_DOUBLE_EQ(lines[1].at("resident_per_byte"), 1.5);
  EXPECT_FALSE(lines[1].contains("ns"));
}

TEST(TraceRows, WhatIsNoReplayHasNoLines) {
  for (const char* text : {"", "{", "{}", "[]", R"({"seconds":1})"})
    EXPECT_TRUE(lines_of_replay(row_of("traces", "ns"), text).empty()) << text;
}

}  // namespace
}  // namespace tarn::tool
