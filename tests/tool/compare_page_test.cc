#include "compare/compare_page.h"

#include <gtest/gtest.h>

#include "page_of.h"

namespace tarn::tool {
namespace {

Json summary_of_one(double median, double noise) {
  return {{"median", median},
          {"lower_quartile", median * (1 - noise)},
          {"upper_quartile", median * (1 + noise)},
          {"spread_percent", 100 * noise},
          {"equal_to_best", false}};
}

/// \param noise half the distance of the quartiles, as a share of each median
Json allocator(const std::string& name, double seconds, double bytes, double noise = 0.01) {
  return {{"name", name},
          {"library", nullptr},
          {"failure", nullptr},
          {"summary",
           {{"wall_seconds", summary_of_one(seconds, noise)},
            {"cpu_seconds", summary_of_one(seconds, noise)},
            {"peak_rss_bytes", summary_of_one(bytes, noise)},
            {"page_faults", summary_of_one(100, noise)}}},
          {"runs", Json::array({Json::object(), Json::object()})}};
}

Json results_with(Json allocators) {
  return {{"tarn", "0.1.0"},
          {"date", "2026-01-02"},
          {"machine", {{"cpu", "a processor"}}},
          {"command", {"a", "b"}},
          {"output", "identical"},
          {"interrupted", false},
          {"allocators", std::move(allocators)}};
}

TEST(ComparePage, InEachDrawingShorterIsBetterAndTheBestIsFirst) {
  const Json results = results_with({allocator("glibc", 2, 1000), allocator("tarn", 1, 500)});
  const Json document = document_in(compare_page(results));
  for (const char* title : {"wall time", "CPU time", "peak RSS"}) {
    const Json bars = part_titled(document, title);
    EXPECT_TRUE(bars.at("axis").at("title").get<std::string>().ends_with("less is better"));
    EXPECT_EQ(bars.at("bars")[0].at("c"), 1);
  }
  EXPECT_EQ(document.at("sentence"), "tarn is 2.00 times as fast as glibc and has 0.50 times its peak RSS.");
}

TEST(ComparePage, WhatTheNoiseCouldExplainIsNotToldAsADifference) {
  const Json results = results_with({allocator("glibc", 2, 1000, 0.2), allocator("tarn", 1.8, 950, 0.2)});
  EXPECT_EQ(document_in(compare_page(results)).at("sentence"),
            "tarn is as fast as glibc within the noise and has the same peak RSS within the noise.");
}

TEST(ComparePage, OneRoundTellsNoNoise) {
  Json results = results_with({allocator("glibc", 2, 1000), allocator("tarn", 1.9, 500)});
  for (Json& one : results["allocators"]) one["runs"].erase(1);
  EXPECT_TRUE(document_in(compare_page(results))
                  .at("sentence")
                  .get<std::string>()
                  .ends_with("One round tells no noise."));
}

TEST(ComparePage, TheBestOfTheOthersIsNamedWhereTarnIsNot) {
  const Json results =
      results_with({allocator("glibc", 4, 1000), allocator("tarn", 2, 500), allocator("other", 1, 500)});
  EXPECT_EQ(document_in(compare_page(results)).at("sentence"),
            "tarn is 2.00 times as fast as glibc (the best, other: 4.00) and has 0.50 times its peak RSS.");
}

TEST(ComparePage, WithoutGlibcThereIsNoSentence) {
  Json failed = allocator("glibc", 2, 1000);
  failed["summary"] = nullptr;
  failed["failure"] = {{"what", "ended by SIGSEGV"}, {"when", "round 1"}, {"last_error_lines", {"<b>"}}};
  const Json document = document_in(
      compare_page(results_with({failed, allocator("tarn", 2, 500), allocator("other", 1, 500)})));
  EXPECT_EQ(document.at("failures")[0].at("what"), "ended by SIGSEGV (round 1)");
  EXPECT_EQ(document.at("sentence"), "");
}

TEST(ComparePage, APageWithoutResultsSaysSo) {
  Json failed = allocator("glibc", 2, 1000);
  failed["summary"] = nullptr;
  const Json document = document_in(compare_page(results_with(Json::array({failed}))));
  EXPECT_EQ(document.at("warnings"), Json::array({"There are no results."}));
  EXPECT_TRUE(document.at("sections").empty());
}

TEST(ComparePage, AServersMemoryIsACurveAndWhatItsLoadPrintedHasBars) {
  Json served = allocator("glibc", 2, 1000);
  served["summary"]["mean_rss_bytes"] = served["summary"]["idle_rss_bytes"] = summary_of_one(500, 0.01);
  served["summary"]["rate"] = summary_of_one(70, 0.01);
  served["summary"]["rate"].update({{"unit", "count"}, {"more_is_better", true}});
  const Json run = {
      {"peak_rss_bytes", 1000}, {"memory", {{0.0, 100}, {0.5, 900}}}, {"printed", {{"rate", 70}}}};
  served["runs"] = Json::array({run, run});
  Json results = results_with({served});
  results["load"] = {"sh", "-c", "ask"};
  const Json document = document_in(compare_page(results));
  const Json curve = part_titled(document, "Resident memory since the load began");
  EXPECT_EQ(curve.at("series")[0].at("points")[1][1], 900);
  EXPECT_EQ(part_titled(document, "rate").at("axis").at("title"),
            "rate of glibc, divided by the own; less is better");
  EXPECT_NE(document.dump().find("Less is better, but of rate more."), std::string::npos);
  EXPECT_NE(document.dump().find("sh -c ask"), std::string::npos);
}

TEST(ComparePage, ASuiteIsATableOfStandingsForEachFigure) {
  Json glibc = allocator("glibc", 2, 1000), tarn = allocator("tarn", 1, 3000);
  for (auto& [key, summary] : glibc["summary"].items()) summary["ratio_to_system"] = 1.0;
  for (auto& [key, summary] : tarn["summary"].items())
    summary["ratio_to_system"] = key == "peak_rss_bytes" ? 3.0 : 0.5;
  Json failed = tarn;
  failed["summary"] = nullptr;
  failed["failure"] = {{"what", "timeout"}, {"when", "round 1"}, {"last_error_lines", Json::array()}};
  Json results = results_with(Json::array());
  results["programs"] = {{{"name", "awk"}, {"allocators", {glibc, tarn}}},
                         {{"name", "lua"}, {"allocators", {glibc, failed}}}};
  const std::string page = document_in(compare_page(results)).dump();
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
