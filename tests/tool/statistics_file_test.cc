#include "run/statistics_file.h"

#include "support/prelude.h"
#include "system/figures/format.h"
#include "tarn/stats.h"

namespace tarn::tool {
namespace {

constexpr const char* kTwoClasses = R"({"size_classes_preset":"default",
  "bytes":{"live":1048576,"peak_live":null}, "calls":{"allocate":30,"requested_bytes":900,"given_bytes":1000},
  "size_classes":[
    {"block_bytes":64,"allocate":10,"requested_bytes":600,"given_bytes":640},
    {"block_bytes":80,"allocate":10,"requested_bytes":610,"given_bytes":800},
    {"block_bytes":96,"allocate":1,"requested_bytes":96,"given_bytes":96}]})";

TEST(StatisticsFile, TheClassThatWastesMostBytesComesFirst) {
  const std::string text = waste_table(*parse_statistics(kTwoClasses), 8).render(Colour::kOff);
  EXPECT_LT(text.find("80"), text.find("64"));
  EXPECT_NE(text.find("23.8 %"), std::string::npos);
}

TEST(StatisticsFile, TheClassesAreNamedByTheirFileIfThereIsOne) {
  Json statistics = *parse_statistics(kTwoClasses);
  statistics["size_classes_file"] = nullptr;
  EXPECT_NE(statistics_report(statistics, Colour::kOff).find("at most (default)"), std::string::npos);
  statistics["size_classes_file"] = "my.classes";
  EXPECT_NE(statistics_report(statistics, Colour::kOff).find("at most (my.classes)"), std::string::npos);
}

TEST(StatisticsFile, AClassThatWastesNothingIsNotShown) {
  EXPECT_EQ(waste_table(*parse_statistics(kTwoClasses), 8).render(Colour::kOff).find("96"),
            std::string::npos);
}

TEST(StatisticsFile, OnlyTheWorstClassesAreShown) {
  EXPECT_EQ(waste_table(*parse_statistics(kTwoClasses), 1).render(Colour::kOff).find("64"),
            std::string::npos);
}

TEST(StatisticsFile, WhatWasNotCountedIsNotKnown) {
  const std::string text = statistics_report(*parse_statistics(kTwoClasses), Colour::kOff);
  EXPECT_NE(text.find("1.000 MiB at the end, not known at most"), std::string::npos);
  EXPECT_NE(text.find("10.0 % of the 1,000 B given"), std::string::npos);
}

TEST(StatisticsFile, EveryFigureWithAPlaceInTheReportIsThere) {
  Json statistics;
  int next = 1001;
#define TARN_SET(group, key, member, ...) statistics[#group][#key] = next++;
  TARN_EVERY_STATISTIC(TARN_SET)
#undef TARN_SET
  const std::string text = statistics_report(statistics, Colour::kOff);
  const auto expect = [&](const char* group, const char* key, bool is_bytes, const std::string& report) {
    if (report.find("{}") == std::string::npos) return;
    const auto value = statistics[group][key].get<std::uint64_t>();
    const std::string shown = is_bytes ? format_bytes(static_cast<double>(value)) : format_count(value);
    EXPECT_NE(text.find(shown), std::string::npos) << group << "." << key << " in " << text;
  };
#define TARN_EXPECT(group, key, member, unit, line, label, report, help) \
  expect(#group, #key, std::string_view(#unit) != "kCount", report);
  TARN_EVERY_STATISTIC(TARN_EXPECT)
#undef TARN_EXPECT
}

constexpr const char* kThreePools = R"({"pools":[
  {"kind":"fixed pool","name":"packets","parent":null,"block_bytes":64,"live_count":10,"live_bytes":640,
   "peak_live_bytes":1280,"mapped_bytes":65536,"waste_bytes":64896,"largest_count":100,"limit_bytes":6400,
   "mapped_limit_bytes":null,"refusals":1234},
  {"kind":"heap","name":"session","parent":"tenant","block_bytes":0,"live_count":3,"live_bytes":5000,
   "peak_live_bytes":6000,"mapped_bytes":131072,"waste_bytes":126072,"limit_bytes":null,
   "mapped_limit_bytes":262144,"refusals":0},
  {"kind":"heap","name":"tenant","parent":null,"block_bytes":0,"mapped_bytes":0}]})";

std::string line_of(const std::string& text, const char* part) {
  const std::size_t at = text.find(part), start = text.rfind('\n', at) + 1;
  return at == std::string::npos ? "" : text.substr(start, text.find('\n', at) - start);
}

TEST(StatisticsFile, APoolHasALineWithAllItsFigures) {
  const std::string text = statistics_report(*parse_statistics(kThreePools), Colour::kOff);
  const std::string packets = line_of(text, "packets"), session = line_of(text, "session in tenant");
  for (const char* part :
       {"fixed pool", "64", "10", "640 B", "1.250 KiB", "6.250 KiB", "64.00 KiB", "63.38 KiB", "1,234"})
    EXPECT_NE(packets.find(part), std::string::npos) << part << " in " << text;
  for (const char* part : {"heap", "any", "256.0 KiB", "128.0 KiB"})
    EXPECT_NE(session.find(part), std::string::npos) << part << " in " << text;
  EXPECT_NE(line_of(text, "  tenant").find("none"), std::string::npos) << text;
  EXPECT_LT(text.find("session"), text.find("packets")) << "most pages first";
  EXPECT_NE(text.find("pools, all at the end:"), std::string::npos) << text;
}

TEST(StatisticsFile, ALimitOfZeroIsNone) {
  const auto limits_with = [](const char* soft, const char* hard) {
    const std::string figures = std::string(soft) + ",\"hard_limit\":" + hard;
    return line_of(
        statistics_report(
            *parse_statistics("{\"limits\":{\"held\":1024,\"soft_limit\":" + figures + ",\"crossings\":0}}"),
            Colour::kOff),
        "limits");
  };
  EXPECT_NE(limits_with("0", "0").find("; soft limit none, hard limit none; 0 crossings"), std::string::npos)
      << limits_with("0", "0");
  EXPECT_NE(limits_with("2048", "0").find("; soft limit 2.000 KiB, hard limit none;"), std::string::npos)
      << limits_with("2048", "0");
  EXPECT_NE(limits_with("0", "4096").find("; soft limit none, hard limit 4.000 KiB;"), std::string::npos)
      << limits_with("0", "4096");
}

TEST(StatisticsFile, OfManyPoolsTheLargestAreShown) {
  Json statistics;
  for (int i = 0; i < 100; ++i)
    statistics["pools"].push_back({{"kind", "heap"}, {"name", "h" + std::to_string(i)}, {"mapped_bytes", i}});
  const std::string text = statistics_report(statistics, Colour::kOff);
  EXPECT_NE(text.find("the 16 of 100 with most pages"), std::string::npos) << text;
  EXPECT_NE(text.find("h99"), std::string::npos);
  EXPECT_EQ(text.find("h83"), std::string::npos);
}

TEST(StatisticsFile, AFileCutShortIsNone) {
  EXPECT_FALSE(parse_statistics(""));
  EXPECT_FALSE(parse_statistics("{\"tarn\":"));
  EXPECT_FALSE(parse_statistics("[]"));
}

TEST(StatisticsFile, FieldsOfAnotherVersionDoNotMatter) {
  EXPECT_NE(
      statistics_report(*parse_statistics("{\"bytes\":7,\"calls\":[],\"size_classes\":{}}"), Colour::kOff),
      "");
}

TEST(StatisticsFile, ARunThatASignalEndedSaysSo) {
  RunResult run;
  run.ending = Ending::kSignaled;
  EXPECT_EQ(why_no_statistics(run, "/bin/sh"), "a signal ended the program before it could write them");
  run.ending = Ending::kExited;
  EXPECT_NE(why_no_statistics(run, "/bin/sh").find("_exit"), std::string::npos);
}

}  // namespace
}  // namespace tarn::tool
