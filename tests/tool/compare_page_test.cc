#include <gtest/gtest.h>

#include "compare/comparison_report.h"
#include "page_of.h"

namespace tarn::tool {
namespace {

const Json kHeader = {{"tarn", "0.1.0"}, {"date", "2026-01-02"}, {"machine", {{"cpu", "a processor"}}}};

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
