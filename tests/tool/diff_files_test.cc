// Files of `tarn record`, `tarn top` and `tarn map` in `tarn diff`: their figures, and what became more.
#include <fmt/format.h>

#include "profile/diff/compared_file.h"
#include "scratch_directory.h"
#include "support/error_of.h"
#include "support/prelude.h"
#include "system/files/usage_error.h"
#include "trace/made_trace.h"

namespace tarn::tool {
namespace {

ComparedFigures with_sizes(double total, std::vector<FigureTable::Row> rows) {
  return {.kind = "tarn record",
          .of = "a.trace",
          .totals = {{"frees", Quantity::kCount, total}, {"lost calls", Quantity::kCount, 0}},
          .tables = {{"size", {{"at peak"}, {"requests", Quantity::kCount}}, std::move(rows)}}};
}

TEST(FigureChanges, RowsAreSortedByWhatTheyGrewAndOthersAreLeftOut) {
  const std::string text = changes_text(
      with_sizes(7, {{"48 B", {480, 10}}, {"64 B", {64, 1}}, {"1 B", {1, 1}}, {"9 B", {9, 1}}}),
      with_sizes(9, {{"56 B", {560, 10}}, {"64 B", {64, 1}}, {"1 B", {2, 1}}, {"9 B", {9, 3}}}), {});
  EXPECT_EQ(text,
            "before: a.trace\n"
            "after:  a.trace\n"
            "\n"
            "before  after  +/-\n"
            "     7      9   +2  frees\n"
            "\n"
            "at peak +/-  requests +/-  at peak now  size\n"
            "     +560 B           +10        560 B  56 B\n"
            "       +1 B                        2 B  1 B\n"
            "                       +2          9 B  9 B\n"
            "     -480 B           -10          0 B  48 B\n");
}

TEST(FigureChanges, TopTellsOfSoManyThatGrewAndThatShrank) {
  std::vector<FigureTable::Row> before, after;
  for (int i = 1; i <= 5; ++i) {
    before.push_back({fmt::format("less {}", i), {10.0 * i, 1}});
    after.push_back({fmt::format("more {}", i), {10.0 * i, 1}});
  }
  const std::string text = changes_text(with_sizes(0, before), with_sizes(0, after), {.rows = 2});
  EXPECT_NE(text.find("more 5"), std::string::npos);
  EXPECT_EQ(text.find("more 3"), std::string::npos);
  EXPECT_LT(text.find("less 5"), text.find("less 4")) << text;
  EXPECT_NE(text.find("and 3 more that grew"), std::string::npos);
  EXPECT_NE(text.find("and 3 more that shrank"), std::string::npos);
  EXPECT_EQ(changes_text(with_sizes(0, before), with_sizes(0, after), {}).find("and 3"), std::string::npos);
}

TEST(FigureChanges, RowsOfOneNameAreOne) {
  const Json json = changes_json(with_sizes(1, {{"arena", {10, 1}}}),
                                 with_sizes(1, {{"arena", {10, 1}}, {"arena", {20, 2}}}));
  EXPECT_EQ(json["schema"], "tarn record growth");
  EXPECT_EQ(json["totals"]["frees"].dump(), R"({"before":1,"after":1})");
  EXPECT_EQ(json["tables"]["size"].dump(),
            R"([{"name":"arena","at_peak":{"before":10,"after":30},"requests":{"before":1,"after":3}}])");
}

TEST(FigureChanges, WhatForgedFiguresComeToIsAWholeNumber) {
  const std::vector<FigureTable::Row> forged(10, {"arena", {1e18, 1e36}});
  const Json json = changes_json(with_sizes(1, {}), with_sizes(1.8e19, forged));
  constexpr std::int64_t kMost = 1'000'000'000'000'000'000;
  EXPECT_EQ(json["totals"]["frees"]["after"], kMost);
  EXPECT_EQ(json["tables"]["size"][0]["at_peak"]["after"], kMost);
  EXPECT_EQ(json["tables"]["size"][0]["requests"]["after"], kMost);
}

TEST(ComparedFile, ATraceTellsItsCallsAndSizes) {
  const ScratchDirectory scratch;
  tarn::test::write_example(scratch.path("a.trace"), 500);
  const ComparedFile file = open_compared(scratch.path("a.trace"));
  EXPECT_EQ(file.kind, kOfRecord);
  const ComparedFigures figures = figures_of(file);
  EXPECT_NE(figures.of.find("a.trace (example)"), std::string::npos);
  EXPECT_EQ(figures.totals.front().name, "allocations");
  double requests = 0;
  for (const FigureTable::Row& row : figures.tables.at(0).rows) requests += row.values.at(2);
  EXPECT_EQ(requests, figures.totals[0].value + figures.totals[1].value + figures.totals[2].value);
}

TEST(ComparedFile, ATraceThatWasCutIsRefused) {
  const ScratchDirectory scratch;
  tarn::test::write_example(scratch.path("a.trace"), 500);
  std::filesystem::resize_file(scratch.path("a.trace"), 400);
  const ComparedFile file = open_compared(scratch.path("a.trace"));
  EXPECT_NE(tarn::test::error_of<UsageError>([&] { figures_of(file); }).find("a.trace"), std::string::npos);
}

constexpr const char* kTop = R"({"schema": "tarn top", "program": "server\u001b", "pid": 4711,
  "sheet": {"basis": "resident", "rss_bytes": 9000, "parts": {"live": 5000, "rounding": 1, "cached": 2,
    "depot": 3, "free_in_slabs": 4, "free_pages": 5, "metadata": 6, "other": 7}},
  "totals": {"live_blocks": 12},
  "pools": [{"number": 3, "kind": "fixed pool", "name": "packets", "resident_bytes": 4096, "live_bytes": 640,
    "live": 10}, {"number": 4, "kind": "arena", "name": "", "resident_bytes": 1, "live_bytes": 1, "live": 1}],
  "classes": [{"block_bytes": 48, "pool": null, "slab_bytes": 65536, "live": 100},
    {"block_bytes": 48, "pool": 0, "slab_bytes": 4096, "live": 1e300}]})";

TEST(ComparedFile, ASnapshotTellsPartsPoolsAndClassesByName) {
  const ScratchDirectory scratch;
  const ComparedFigures figures = figures_of(open_compared(scratch.add_file("a.json", kTop)));
  EXPECT_EQ(figures.of, scratch.path("a.json") + " (server? 4711)");
  EXPECT_EQ(figures.totals.front().value, 9000);
  EXPECT_EQ(figures.totals.at(8).name, "not tarn");
  EXPECT_EQ(figures.tables.at(0).rows.at(0).name, "fixed pool \"packets\"");
  EXPECT_EQ(figures.tables.at(0).rows.at(1).name, "arena 4");
  EXPECT_EQ(figures.tables.at(1).rows.at(0).values, (std::vector<double>{65536, 4800, 100}));
  EXPECT_EQ(figures.tables.at(1).rows.at(1).name, "blocks of 48 B in fixed pool \"packets\"");
  EXPECT_EQ(figures.tables.at(1).rows.at(1).values.at(2), 1e18) << "what is forged stays a number";
}

TEST(ComparedFile, ASnapshotOfACoreFileIsRefused) {
  const ScratchDirectory scratch;
  const ComparedFile file =
      open_compared(scratch.add_file("a.json", R"({"schema": "tarn top", "sheet": {"basis": "mapped"}})"));
  EXPECT_NE(tarn::test::error_of<UsageError>([&] { figures_of(file); }).find("core file"), std::string::npos);
}

TEST(ComparedFile, AMapTellsItsGroups) {
  const ScratchDirectory scratch;
  const ComparedFigures figures =
      figures_of(open_compared(scratch.add_file("a.json", R"({"schema": "tarn map",
    "program": "server", "pid": 1, "is_residency_known": true,
    "totals": {"rss_bytes": 9, "resident_bytes": 8, "mapped_bytes": 7, "live_bytes": 6, "idle_bytes": 5,
      "free_dirty_bytes": 4, "free_clean_bytes": 3},
    "groups": [{"name": "free pages", "bytes": 3, "live_bytes": 0, "resident_bytes": 2}]})")));
  EXPECT_EQ(figures.totals.at(5).name, "free dirty");
  EXPECT_EQ(figures.tables.at(0).rows.at(0).values, (std::vector<double>{2, 0, 3}));
}

TEST(ComparedFile, WhatIsNeitherSaysWhatCanBeCompared) {
  const ScratchDirectory scratch;
  for (const char* const content : {"", "tarntrc", "[1]", R"({"schema": 7})", R"({"schema": "tarn doctor"})"})
    EXPECT_NE(tarn::test::error_of<UsageError>([&] {
                open_compared(scratch.add_file("a", content));
              }).find("nothing to compare: `tarn profile"),
              std::string::npos)
        << content;
}

}  // namespace
}  // namespace tarn::tool
