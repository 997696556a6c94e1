// What a replay wrote, as the lines of a benchmark program.
#include "bench/trace_rows.h"

#include <gtest/gtest.h>

namespace tarn::tool {
namespace {

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
