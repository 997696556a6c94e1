#include "compare/compare_page.h"

#include <gtest/gtest.h>

#include "page_of.h"

namespace tarn::tool {
namespace {

Json summary_of_one(double median) {
  return {{"median", median},
          {"lower_quartile", median * 0.5},
          {"upper_quartile", median * 2},
          {"spread_percent", 1.0},
          {"equal_to_best", false}};
}

Json allocator(const std::string& name, double seconds, double bytes) {
  return {{"name", name},
          {"library", nullptr},
          {"failure", nullptr},
          {"summary",
           {{"wall_seconds", summary_of_one(seconds)},
            {"cpu_seconds", summary_of_one(seconds)},
            {"peak_rss_bytes", summary_of_one(bytes)},
            {"page_faults", summary_of_one(100)}}},
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

TEST(ComparePage, ARatioIsASpeedSoThatHalfTheTimeIsTwiceAsFast) {
  const Json results = results_with({allocator("glibc", 2, 1000), allocator("tarn", 1, 500)});
  const Json document = document_in(compare_page(results));
  const Json speed = part_titled(document, "Speed: wall time");
  EXPECT_EQ(speed.at("bars")[0].at("c"), 1);
  EXPECT_EQ(speed.at("bars")[0].at("value"), 2.0);
  EXPECT_EQ(speed.at("bars")[0].at("low"), 1.0);   // of the time's upper quartile
  EXPECT_EQ(speed.at("bars")[0].at("high"), 4.0);  // of its lower one
  EXPECT_EQ(speed.at("reference"), 1.0);
  EXPECT_EQ(document.at("sentence"), "tarn is 2.00 times as fast as glibc and has 0.50 times its peak RSS.");
}

TEST(ComparePage, TheBestOfTheOthersIsNamedWhereTarnIsNot) {
  const Json results =
      results_with({allocator("glibc", 4, 1000), allocator("tarn", 2, 500), allocator("other", 1, 500)});
  EXPECT_EQ(document_in(compare_page(results)).at("sentence"),
            "tarn is 2.00 times as fast as glibc (the best, other: 4.00) and has 0.50 times its peak RSS.");
}

TEST(ComparePage, WithoutGlibcTheBestIsTheBase) {
  Json failed = allocator("glibc", 2, 1000);
  failed["summary"] = nullptr;
  failed["failure"] = {{"what", "ended by SIGSEGV"}, {"when", "round 1"}, {"last_error_lines", {"<b>"}}};
  const Json document = document_in(
      compare_page(results_with({failed, allocator("tarn", 2, 500), allocator("other", 1, 500)})));
  EXPECT_EQ(part_titled(document, "Speed: wall time").at("axis").at("title"),
            "times as fast as other; longer is better");
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
  served["summary"]["mean_rss_bytes"] = served["summary"]["idle_rss_bytes"] = summary_of_one(500);
  served["summary"]["rate"] = summary_of_one(70);
  served["summary"]["rate"].update({{"unit", "count"}, {"more_is_better", true}});
  const Json run = {
      {"peak_rss_bytes", 1000}, {"memory", {{0.0, 100}, {0.5, 900}}}, {"printed", {{"rate", 70}}}};
  served["runs"] = Json::array({run, run});
  Json results = results_with({served});
  results["load"] = {"sh", "-c", "ask"};
  const Json document = document_in(compare_page(results));
  const Json curve = part_titled(document, "Resident memory since the load began");
  EXPECT_EQ(curve.at("series")[0].at("points")[1][1], 900);
  EXPECT_EQ(part_titled(document, "rate").at("axis").at("title"), "rate; more is better");
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
  EXPECT_NE(page.find("wall time: times as fast as glibc; more is better"), std::string::npos);
  EXPECT_NE(page.find("2.00"), std::string::npos);  // twice as fast
  EXPECT_NE(page.find("3.00"), std::string::npos);  // three times the memory
  EXPECT_NE(page.find("lua on tarn"), std::string::npos);
  EXPECT_NE(page.find("tarn is 2.00 times as fast as glibc by CPU time and has 3.00 times its peak RSS"),
            std::string::npos);
}

}  // namespace
}  // namespace tarn::tool
