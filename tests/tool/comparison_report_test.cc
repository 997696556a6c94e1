#include "compare/comparison_report.h"

#include "compare/comparison_document.h"
#include "page_of.h"
#include "support/prelude.h"

namespace tarn::tool {
namespace {

ProgramRun run_of(double seconds, std::uint64_t bytes) {
  return {{.wall_seconds = seconds, .user_seconds = seconds, .peak_rss_bytes = bytes, .minor_faults = 100}};
}

Entry<ProgramRun> contender(const char* name, double seconds, std::uint64_t bytes) {
  return {{name, name == std::string(kSystemName) ? "" : "/x.so"},
          std::vector<ProgramRun>(3, run_of(seconds, bytes)),
          std::nullopt};
}

Entry<ProgramRun> failed(const char* name, const char* what, double seconds = 1) {
  Entry<ProgramRun> result = contender(name, seconds, 1 << 20);
  result.failure = Failure{what, "round 2", {"its last words"}};
  return result;
}

Comparison comparison_of(Entries<ProgramRun> contenders, const char* name = "") {
  return {{.name = name, .command = {"prog"}}, std::move(contenders)};
}

std::string row_of(const std::string& text, const std::string& name) {
  const std::size_t start = text.find("\n" + name) + 1;
  return text.substr(start, text.find('\n', start) - start);
}

TEST(ComparisonReport, TheBestOfAColumnIsMarkedAndOthersHaveTheirRatio) {
  const Comparison comparison =
      comparison_of({contender("glibc", 2, 1 << 20), contender("tarn", 1, 2 << 20)});
  const std::string text = comparison_tables(comparison, Colour::kOff);
  EXPECT_NE(row_of(text, "glibc").find("2.000  ±0.0%   0.50"), std::string::npos) << text;
  EXPECT_NE(row_of(text, "tarn").find("1.000  ±0.0%   1.00 *"), std::string::npos) << text;
}

TEST(ComparisonReport, WhatIsAsGoodWithinTheNoiseIsMarkedEqual) {
  const Comparison comparison = comparison_of({contender("glibc", 1.004, 1), contender("tarn", 1, 1)});
  EXPECT_NE(row_of(comparison_tables(comparison, Colour::kOff), "glibc").find("1.00 ="), std::string::npos);
}

TEST(ComparisonReport, ARunThatFailedIsNeverComparedAndIsNamed) {
  const Comparison comparison =
      comparison_of({contender("glibc", 2, 1), failed("fast", "exit status 3", 0.001)});
  const std::string text = comparison_report(comparison, 0, Colour::kOff);
  EXPECT_EQ(comparison_tables(comparison, Colour::kOff).find("fast"), std::string::npos);
  EXPECT_EQ(figures_of(comparison).all[0].best().median, 2);
  EXPECT_NE(text.find("FAILED fast: exit status 3 (round 2)\n    its last words\n"), std::string::npos)
      << text;
}

TEST(ComparisonReport, AProgramThatFailsEverywhereIsReportedOnce) {
  const Comparison comparison =
      comparison_of({failed("glibc", "exit status 3"), failed("tarn", "exit status 3")});
  EXPECT_EQ(failure_report(contenders_of(comparison.contenders), Colour::kOff),
            "FAILED under every allocator alike: exit status 3 (round 2)\n    its last words\n");
}

TEST(ComparisonReport, DifferentFailuresAreReportedOneByOne) {
  const Comparison comparison =
      comparison_of({failed("glibc", "exit status 3"), failed("tarn", "exit status 4")});
  const std::string text = failure_report(contenders_of(comparison.contenders), Colour::kOff);
  EXPECT_NE(text.find("FAILED glibc: exit status 3"), std::string::npos);
  EXPECT_NE(text.find("FAILED tarn: exit status 4"), std::string::npos);
}

TEST(ComparisonReport, AnInterruptedComparisonSaysHowFarItCame) {
  const Comparison comparison = comparison_of({contender("glibc", 2, 1)});
  EXPECT_NE(comparison_report(comparison, 2, Colour::kOff).find("3 rounds, interrupted"), std::string::npos);
}

TEST(ComparisonReport, TimeIsToldAsSpeedAndMemoryAsAnAmount) {
  const Comparison comparison = comparison_of({contender("glibc", 2, 100), contender("tarn", 1, 150)});
  const std::string text = comparison_report(comparison, 0, Colour::kOff);
  EXPECT_NE(text.find("tarn beside glibc:\n  wall 2.00, CPU 2.00 times as fast\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("\n  peak RSS 1.50, page faults 1.00 = times as much\n"), std::string::npos)
      << "what is equal within the noise is marked";
}

TEST(ComparisonReport, BarsBesideTheSystemsComeBeforeTheTable) {
  const Comparison comparison = comparison_of({contender("glibc", 2, 100), contender("tarn", 1, 150)});
  const std::string text = comparison_report(comparison, 0, Colour::kOff);
  const std::size_t half = text.find("████████████            │");
  EXPECT_NE(half, std::string::npos) << text;
  EXPECT_LT(half, text.find("±")) << "tables stand below";
}

TEST(ComparisonReport, ABarWithoutRoomEndsInAnArrow) {
  const Comparison comparison = comparison_of({contender("glibc", 1, 100), contender("tarn", 9, 100)});
  EXPECT_NE(comparison_report(comparison, 0, Colour::kOff).find("█▶"), std::string::npos);
}

TEST(SuiteReport, TarnStandsBesideTheBestOtherOfEachProgram) {
  const ComparisonResults results = {
      {comparison_of({contender("glibc", 2, 100), contender("tarn", 1, 100), failed("x", "timeout")}, "awk"),
       comparison_of({contender("glibc", 1, 100), contender("tarn", 2, 100), contender("x", 8, 50)}, "lua")}};
  const std::string text = suite_report(results, Colour::kOff);
  EXPECT_NE(text.find("tarn beside the best other of each program: 1.000 times as fast, worst 0.50 (lua)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("awk: FAILED x: timeout"), std::string::npos) << text;
}

TEST(SuiteReport, VariantsOfTarnStandBesideIt) {
  Entry<ProgramRun> variant = contender("eager", 4, 50);
  const ComparisonResults results = {
      {comparison_of({contender("glibc", 2, 100), contender("tarn", 1, 100), variant}, "awk")}};
  const std::string text = suite_report(results, Colour::kOff);
  EXPECT_NE(text.find("eager beside tarn: 0.250, worst 0.25 (awk)"), std::string::npos) << text;
  EXPECT_NE(text.find("tarn beside the best other of each program: 2.000"), std::string::npos) << text;
}

TEST(SuiteReport, APrintedFigureHasATableOfTheProgramsThatPrintIt) {
  Comparison with_figures = comparison_of({contender("glibc", 2, 100), contender("tarn", 1, 100)}, "served");
  with_figures.workload.figures = {{parse_load_metric("p99=p99 ([0-9]+)")},
                                   {parse_load_metric("+rate=([0-9]+)/s")}};
  for (ProgramRun& run : with_figures.contenders[0].runs) run.printed = {10, 500};
  for (ProgramRun& run : with_figures.contenders[1].runs) run.printed = {20, 750};
  const ComparisonResults results = {
      {comparison_of({contender("glibc", 2, 100), contender("tarn", 1, 100)}, "awk"), with_figures}};
  const std::string text = suite_report(results, Colour::kOff);
  const std::string rates = text.substr(text.find("\nrate"));
  EXPECT_NE(row_of(rates, "served").find("750"), std::string::npos) << text;
  EXPECT_EQ(rates.find("awk"), std::string::npos) << text;
  EXPECT_NE(text.find("each program: 2.000 times as much, worst 2.00 (served)"), std::string::npos) << text;
  EXPECT_NE(rates.find("1.500 times as much, where more is better, worst 1.50 (served)"), std::string::npos)
      << text;
}

TEST(SuiteReport, SmallProgramsHaveATableOfWhatIsAboveGlibc) {
  ComparisonResults results = {
      {comparison_of({contender("glibc", 0.001, 1 << 20), contender("tarn", 0.002, 2 << 20)}, "true")}};
  results.comparisons.front().workload.is_small = true;
  const std::string text = suite_report(results, Colour::kOff);
  EXPECT_NE(row_of(text, "true, tarn").find("+1.000"), std::string::npos) << text;
  EXPECT_NE(row_of(text, "true, tarn").find("+1024.000"), std::string::npos) << text;
}

TEST(Results, EveryRunAndTheRatiosAreInTheJson) {
  const Comparison comparison =
      comparison_of({contender("glibc", 2, 1), contender("tarn", 1, 1), failed("bad", "timeout")});
  const Json json = comparison_json({}, {{comparison}});
  EXPECT_EQ(json["allocators"][1]["runs"].size(), 3u);
  EXPECT_EQ(json["allocators"][1]["summary"]["wall_seconds"]["ratio_to_system"], 0.5);
  EXPECT_EQ(json["allocators"][0]["summary"]["wall_seconds"]["ratio_to_best"], 2.0);
  EXPECT_EQ(json["allocators"][0]["library"], nullptr);
  EXPECT_EQ(json["allocators"][2]["failure"]["what"], "timeout");
  EXPECT_EQ(json["allocators"][2]["summary"], nullptr);
  EXPECT_FALSE(json["allocators"][2].contains("version"));
  EXPECT_FALSE(json["machine"]["kernel"].get<std::string>().empty());
}

TEST(Results, BytesThatAreNotUtf8DoNotBreakTheFile) {
  EXPECT_NE(text_of(Json{{"command", "\xff\xfe"}}).find("command"), std::string::npos);
}

const Json kHeader = {{"library", "0.1.0"}, {"date", "2026-01-02"}, {"machine", {{"cpu", "a processor"}}}};

/// \param noise half the distance of the quartiles, as a share of each median
Entry<ProgramRun> allocator(const std::string& name, double seconds, double bytes, double noise = 0.01) {
  Entry<ProgramRun> entry = {{name, name == kSystemName ? "" : "/x.so"}};
  for (const double times : {1 - 2 * noise, 1.0, 1 + 2 * noise})
    entry.runs.push_back({{.wall_seconds = times * seconds,
                           .user_seconds = times * seconds,
                           .peak_rss_bytes = static_cast<std::uint64_t>(times * bytes),
                           .minor_faults = 100}});
  return entry;
}

Comparison compared(Entries<ProgramRun> contenders, const char* name = "") {
  return {{.name = name, .command = {"a", "b"}}, std::move(contenders), OutputVerdict::kIdentical};
}

Json page_of(const std::vector<Comparison>& comparisons) {
  return document_in(compare_page(kHeader, {comparisons}));
}

Json page_of(Entries<ProgramRun> contenders) { return page_of({compared(std::move(contenders))}); }

TEST(ComparePage, InEachDrawingShorterIsBetterAndTheBestIsFirst) {
  const Json document = page_of({allocator("glibc", 2, 1000), allocator("tarn", 1, 500)});
  for (const char* title : {"wall time", "CPU time", "peak RSS"}) {
    const Json bars = part_titled(document, title);
    EXPECT_TRUE(bars.at("axis").at("title").get<std::string>().ends_with("less is better"));
    EXPECT_EQ(bars.at("bars")[0].at("c"), 1);
  }
  EXPECT_EQ(document.at("title"), "a b, on each allocator");
  EXPECT_EQ(document.at("sentence"), "tarn is 2.00 times as fast as glibc and has 0.50 times its peak RSS.");
}

TEST(ComparePage, WhatTheNoiseCouldExplainIsNotToldAsADifference) {
  EXPECT_EQ(page_of({allocator("glibc", 2, 1000, 0.2), allocator("tarn", 1.8, 950, 0.2)}).at("sentence"),
            "tarn is as fast as glibc within the noise and has the same peak RSS within the noise.");
}

TEST(ComparePage, OneRoundTellsNoNoise) {
  Entries<ProgramRun> contenders = {allocator("glibc", 2, 1000), allocator("tarn", 1.9, 500)};
  for (Entry<ProgramRun>& one : contenders) one.runs = {one.runs[1]};
  EXPECT_TRUE(page_of(contenders).at("sentence").get<std::string>().ends_with("One round tells no noise."));
}

TEST(ComparePage, TheBestOfTheOthersIsNamedWhereTarnIsNot) {
  EXPECT_EQ(page_of({allocator("glibc", 4, 1000), allocator("tarn", 2, 500), allocator("other", 1, 500)})
                .at("sentence"),
            "tarn is 2.00 times as fast as glibc (the best, other: 4.00) and has 0.50 times its peak RSS.");
}

TEST(ComparePage, WithoutGlibcThereIsNoSentence) {
  Entry<ProgramRun> failed = allocator("glibc", 2, 1000);
  failed.failure = Failure{"ended by SIGSEGV", "round 1", {"<b>"}};
  const Json document = page_of({failed, allocator("tarn", 2, 500), allocator("other", 1, 500)});
  EXPECT_EQ(document.at("failures")[0].at("what"), "ended by SIGSEGV (round 1)");
  EXPECT_EQ(document.at("sentence"), "");
}

TEST(ComparePage, APageWithoutResultsSaysSo) {
  Entry<ProgramRun> without_runs = allocator("glibc", 2, 1000);
  without_runs.runs.clear();
  const Json document = page_of(Entries<ProgramRun>{without_runs});
  EXPECT_EQ(document.at("warnings"), Json::array({"There are no results."}));
  EXPECT_TRUE(document.at("sections").empty());
}

TEST(ComparePage, AServersMemoryIsACurveAndWhatItsLoadPrintedHasBars) {
  Entry<ProgramRun> served = allocator("glibc", 2, 1000);
  for (ProgramRun& run : served.runs) {
    run.memory = {{0.0, 100}, {0.5, 900}};
    run.printed = {70};
  }
  Comparison comparison = compared({served});
  comparison.workload.load = Load{.command = {"sh", "-c", "ask"}, .readiness = {}};
  comparison.workload.figures = {{parse_load_metric("+rate=([0-9]+)/s")}};
  const Json document = page_of({comparison});
  const Json curve = part_titled(document, "Resident memory since the load began");
  EXPECT_EQ(curve.at("series")[0].at("points")[1][1], 900);
  EXPECT_EQ(part_titled(document, "rate").at("axis").at("title"),
            "rate of glibc, divided by the own; less is better");
  EXPECT_NE(document.dump().find("Less is better, but of rate more."), std::string::npos);
  EXPECT_NE(document.dump().find("sh -c ask"), std::string::npos);
}

TEST(ComparePage, ASuiteIsATableOfStandingsForEachFigure) {
  const Entry<ProgramRun> glibc = allocator("glibc", 2, 1000), tarn = allocator("tarn", 1, 3000);
  Entry<ProgramRun> failed = tarn;
  failed.failure = Failure{"timeout", "round 1", {}};
  const std::string page = page_of({compared({glibc, tarn}, "awk"), compared({glibc, failed}, "lua")}).dump();
  EXPECT_NE(page.find("wall time: times glibc's; less is better"), std::string::npos);
  EXPECT_NE(page.find("0.50"), std::string::npos);  // half the time
  EXPECT_NE(page.find("3.00"), std::string::npos);  // three times the memory
  EXPECT_NE(page.find("lua on tarn"), std::string::npos);
  EXPECT_NE(
      page.find("tarn takes 0.50 times glibc's CPU time (less in 1 of 1 program and more in 0, beyond the "
                "noise) and 3.00 times glibc's peak RSS (less in 0 of 1 program and more in 1, beyond the "
                "noise), as geometric means."),
      std::string::npos);
}

}  // namespace
}  // namespace tarn::tool
