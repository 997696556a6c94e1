#include "profile/leak_report.h"

#include <gtest/gtest.h>

#include "hand_made_profile.h"

namespace tarn::profile {
namespace {

using test::make_stack;

TEST(LeaksAtEnd, OneSiteIsOneLeakPerPoolAndSize) {
  const NamedProfile profile = test::named({make_stack({1, 2}, 4, 256), make_stack({1, 3}, 2, 128),
                                            make_stack({1, 2}, 1, 32), make_stack({1, 2}, 1, 64, "heap 1")});
  const LeaksAtEnd report = leaks_at_end(profile, {});
  ASSERT_EQ(report.leaks.size(), 3u);
  EXPECT_EQ(report.leaks[0].amount.bytes, 384);
  EXPECT_EQ(report.leaks[0].stacks, 2u);
  EXPECT_EQ(report.leaks[0].frames[1].function, "0x2");
  EXPECT_EQ(report.leaks[1].pool, "heap 1");
  EXPECT_EQ(report.leaks[2].block_bytes, 32);
  EXPECT_EQ(report.total.blocks, 8);
  EXPECT_EQ(verdict_of(report), LeakVerdict::kLeaks);
}

TEST(LeaksAtEnd, TextNamesBytesBlocksAndFrames) {
  const NamedProfile profile = test::named({make_stack({1, 2, 3}, 1, 1048576, "heap 1")});
  LeakTextShape shape;
  shape.frames = 2;
  EXPECT_EQ(leak_report_text(leaks_at_end(profile, {}), shape),
            "1,048,576 bytes in 1 block of 1.00 MiB from heap 1\n"
            "    at [frames left out]\n"
            "    by 0x2\n"
            "    and 1 more frames\n"
            "\n"
            "1,048,576 bytes in 1 block leaked\n");
}

TEST(LeaksAtEnd, WhatIsSuppressedIsCountedAndNoLeak) {
  const NamedProfile profile = test::named({make_stack({0x11}, 2, 64), make_stack({0x12}, 0, 0)});
  const LeaksAtEnd report = leaks_at_end(profile, Suppressions::parse("leak:0x11\nleak:unused", "known.txt"));
  EXPECT_EQ(verdict_of(report), LeakVerdict::kNone);
  EXPECT_EQ(report.unused_suppressions, std::vector<std::string>{"unused"});
  const std::string text = leak_report_text(report);
  EXPECT_TRUE(text.starts_with("no leaks\n64 bytes in 2 blocks suppressed, by:\n")) << text;
  EXPECT_NE(text.find("0x11"), std::string::npos);
  EXPECT_EQ(leak_report_json(report)["suppressions"][0]["suppressed"]["blocks"], 2);
}

TEST(LeaksAtEnd, OlderMemoryIsToldAndIsNoLeak) {
  HeapProfile raw = test::make_profile({});
  raw.older_blocks = 3;
  raw.older_bytes = 300;
  const NamedProfile profile = test::named(raw);
  const LeaksAtEnd report = leaks_at_end(profile, {});
  EXPECT_EQ(verdict_of(report), LeakVerdict::kNone);
  EXPECT_EQ(report.older.bytes, 300);
  EXPECT_NE(leak_report_text(report).find("300 B in 3 blocks from before"), std::string::npos);
  EXPECT_EQ(leak_report_json(report)["older"]["bytes"], 300);
}

TEST(LeaksAtEnd, NoLineIsWiderThanAskedFor) {
  const NamedProfile profile = test::named({make_stack({1}, 1, 8, std::string(200, 'p'))});
  LeakTextShape shape;
  shape.columns = 80;
  const std::string text = leak_report_text(leaks_at_end(profile, {}), shape);
  EXPECT_EQ(text.find(std::string(100, 'p')), std::string::npos);
  EXPECT_NE(text.find("…\n"), std::string::npos);
}

}  // namespace
}  // namespace tarn::profile
