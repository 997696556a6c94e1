// The catalogue of sources and groups; what a replay wrote, as the lines of a benchmark program.
#include <gtest/gtest.h>

#include <set>

#include "bench/rows/catalogue.h"
#include "bench/rows/trace_rows.h"

namespace tarn::tool {
namespace {

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
