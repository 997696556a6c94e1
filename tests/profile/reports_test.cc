// Reports for people: leaks and those that are known, growth, the table of sites.
#include "hand_made_profile.h"
#include "observer/text/printable.h"
#include "profile/reports/growth.h"
#include "profile/reports/leak_report.h"
#include "profile/reports/lifetimes.h"
#include "profile/reports/suppressions.h"
#include "profile/reports/top_sites.h"
#include "support/error_of.h"
#include "support/prelude.h"

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

TEST(Growth, TheGreatestComesFirstAndShrinkageLast) {
  const NamedProfile before =
      test::named({make_stack({1}, 1, 100), make_stack({2}, 1, 500), make_stack({3}, 1, 7)});
  const NamedProfile after =
      test::named({make_stack({1}, 2, 200), make_stack({3}, 1, 7), make_stack({4}, 9, 900)});
  const std::vector<StackGrowth> growth = growth_between(before, after);
  ASSERT_EQ(growth.size(), 3u);
  EXPECT_EQ(growth[0].frames[0].function, "0x4");
  EXPECT_EQ(growth[0].bytes(), 900);
  EXPECT_EQ(growth[1].bytes(), 100);
  EXPECT_EQ(growth[2].bytes(), -500);
  const std::string text = growth_text(growth, {}, {.rows = 1, .columns = 80});
  EXPECT_NE(text.find("+500 B in all"), std::string::npos) << text;
  EXPECT_NE(text.find("-500 B"), std::string::npos) << text;
  EXPECT_NE(text.find("and 1 more that grew"), std::string::npos) << text;
  EXPECT_EQ(growth_json(growth)["stacks"][2]["growth"]["bytes"], -500);
}

TEST(OverTime, EachSiteHasItsBytesAtEachLook) {
  const NamedProfile profile = test::named(test::make_profile_with_looks());
  const LiveOverTime over_time = live_over_time(profile, 1);
  ASSERT_EQ(over_time.sites.size(), 3u);
  EXPECT_EQ(over_time.seconds.back(), 3.5);
  EXPECT_EQ(over_time.sites[0].name, "0x2");
  EXPECT_EQ(over_time.sites[0].bytes, (std::vector<double>{0, 1e3, 2e3, 3e3, 4e3, 5e3, 6e3, 7e3}));
  EXPECT_EQ(over_time.sites[1].name, "[other sites]");
  EXPECT_EQ(over_time.sites[1].bytes, std::vector<double>(8, 850));
  EXPECT_EQ(over_time.sites[2].bytes[3], 300);
  EXPECT_EQ(over_time.sites[2].bytes[4], 0);
  EXPECT_EQ(bars_over_time(over_time.sites[0], over_time.seconds, 8), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(bars_over_time(over_time.sites[1], over_time.seconds, 4), "████");
}

TEST(OverTime, GrowthHasBarsWhereThereWereLooks) {
  const NamedProfile before = test::named({make_stack({1}, 1, 800)});
  const NamedProfile after = test::named(test::make_profile_with_looks());
  const LiveOverTime over_time = live_over_time(after, 10);
  const std::string text = growth_text(growth_between(before, after), over_time, {.columns = 80});
  EXPECT_NE(text.find("▁▂▃▄▅▆▇█  0x2\n"), std::string::npos) << text;
  EXPECT_EQ(growth_json({}, over_time)["over_time"]["sites"][0]["bytes"][7], 7'000);
}

TEST(OverTime, AFewLooksTellNothing) {
  HeapProfile profile = test::make_profile_with_looks();
  profile.looks.resize(2);
  EXPECT_TRUE(live_over_time(test::named(std::move(profile)), 10).sites.empty());
}

TEST(Growth, OneStackInTwoPoolsIsTwo) {
  const NamedProfile before = test::named({make_stack({1}, 1, 100, "heap 1")});
  const NamedProfile after = test::named({make_stack({1}, 1, 100, "heap 2")});
  EXPECT_EQ(growth_between(before, after).size(), 2u);
}

TEST(Growth, OfAProfileToItselfIsNothing) {
  const NamedProfile profile = test::named(test::make_mixed_profile());
  EXPECT_TRUE(growth_between(profile, profile).empty());
}

std::string error_of(const std::string& text) {
  return tarn::test::error_of<ListError>([&] { Suppressions::parse(text, "known.txt"); });
}

TEST(Suppressions, CommentsAndEmptyLinesAreSkipped) {
  const Suppressions parsed = Suppressions::parse("# known\n\n  leak:build \r\nleak:^main$", "known.txt");
  ASSERT_EQ(parsed.all().size(), 2u);
  EXPECT_EQ(parsed.all()[0].pattern, "build");
  EXPECT_EQ(parsed.all()[1].pattern, "^main$");
}

TEST(Suppressions, ABadLineIsOneErrorThatNamesIt) {
  EXPECT_EQ(error_of("leak:a\n# b\nrace:c\n"),
            "known.txt:3: \"race:c\" is no suppression: write leak:PATTERN, or # before a comment");
  EXPECT_NE(error_of("leak:\n").find("known.txt:1: the pattern would suppress every leak"),
            std::string::npos);
  EXPECT_NE(error_of("leak:*\n").find("every leak"), std::string::npos);
  EXPECT_EQ(error_of("\033[2J").find('\033'), std::string::npos);
  EXPECT_NE(error_of("leak:" + std::string(5000, 'a')).find("longer than"), std::string::npos);
}

TEST(Suppressions, AFileThatIsNotThereIsToldByItsName) {
  const std::string error = tarn::test::error_of<ListError>([] { read_list("/nowhere/known.txt"); });
  EXPECT_TRUE(error.starts_with("/nowhere/known.txt: cannot be read")) << error;
}

TEST(Suppressions, AreCountedByTheFirstThatMatchesAndMayBeUnused) {
  HeapProfile raw =
      test::make_profile({test::make_stack({0x101, 0x2}, 2, 64), test::make_stack({0x3}, 1, 8)});
  raw.modules = {{0x100, 0x200, 0, "[jit of known]", ""}};
  const NamedProfile profile = test::named(raw);
  Suppressions parsed = Suppressions::parse("leak:^0x2$\nleak:jit of\nleak:nothing\n", "known.txt");
  EXPECT_TRUE(parsed.suppress(profile.stacks()[0], profile.raw()));
  EXPECT_FALSE(parsed.suppress(profile.stacks()[1], profile.raw()));
  EXPECT_EQ(parsed.all()[0].suppressed.bytes, 64);
  EXPECT_EQ(parsed.unused(), (std::vector<std::string>{"jit of", "nothing"}));
  Suppressions by_module = Suppressions::parse("leak:jit of", "known.txt");
  EXPECT_TRUE(by_module.suppress(profile.stacks()[0], profile.raw()));
}

TEST(Suppressions, AnyBytesAreParsedOrRefused) {
  const std::string signs = "leak:*^$#\n\r \t:ab\0\xff";
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string text = i % 2 == 0 ? "leak:" : "";
    for (std::size_t left = random() % 40; left > 0; --left) text += signs[random() % signs.size()];
    const std::string error = error_of(text);
    if (error.empty()) {
      const Suppressions parsed = Suppressions::parse(text, "x");
      for (const Suppression& one : parsed.all()) EXPECT_FALSE(one.pattern.empty());
    } else {
      EXPECT_TRUE(error.starts_with("known.txt:"));
    }
  }
}

TEST(TopSites, AreSortedByBytes) {
  const NamedProfile profile = test::named(test::make_mixed_profile());
  const std::vector<Site> sites = sites_of(profile, Measure::kLive);
  ASSERT_EQ(sites.size(), 4u);
  EXPECT_EQ(sites[0].frame.function, "0x101");
  EXPECT_EQ(sites[3].pool, "fixed pool 3 \"packets;\"");
}

TEST(TopSites, StacksOfOneSiteAreAddedUp) {
  const NamedProfile profile =
      test::named({test::make_stack({0x1, 0x2}, 1, 10), test::make_stack({0x1, 0x3}, 2, 20)});
  const std::vector<Site> sites = sites_of(profile, Measure::kLive);
  ASSERT_EQ(sites.size(), 1u);
  EXPECT_EQ(sites[0].amount.bytes, 30);
  EXPECT_EQ(sites[0].amount.blocks, 3);
}

TEST(TopSites, SamplesTellTheError) {
  HeapProfile raw = test::make_mixed_profile();
  raw.interval_bytes = 4096;
  raw.stacks[0].live_squares = 4096.0 * 4096 / 400;
  const std::string text = top_sites_text(test::named(raw));
  EXPECT_NE(text.find("72.4 %     ±5 %  0x101"), std::string::npos) << text;
  EXPECT_NE(text.find("±100 %  0x102"), std::string::npos) << text;
  raw.first_interval_bytes = 65536;
  const std::string allocated = top_sites_text(test::named(raw), {.measure = Measure::kAllocated});
  EXPECT_NE(allocated.find("≥71 %  0x101"), std::string::npos) << allocated;
}

TEST(Lifetimes, HaveTheErrorOfWhatWasAllocated) {
  HeapProfile raw = test::make_mixed_profile();
  raw.interval_bytes = 4096;
  raw.stacks[0].samples = 100;
  const std::string text = lifetimes_text(test::named(raw), {});
  EXPECT_NE(text.find("8.00 KiB   ±10 %    0.0 %"), std::string::npos) << text;
  raw.first_interval_bytes = 65536;
  const std::string several = lifetimes_text(test::named(raw), {});
  EXPECT_NE(several.find("8.00 KiB   ≥10 %"), std::string::npos) << several;
}

TEST(TopSites, TypesThatAreNotKnownAreTheirSites) {
  const std::string text =
      top_sites_text(test::named(test::make_mixed_profile()), {.row_of = RowOf::kType, .rows = 1});
  EXPECT_NE(text.find("the type is known of 0.0 %"), std::string::npos) << text;
  EXPECT_NE(text.find("no type: 0x101"), std::string::npos) << text;
}

TEST(TopSites, RowsAreAsWideAsTheTerminalAtMost) {
  HeapProfile raw = test::make_mixed_profile();
  raw.stacks[0].pool = std::string(200, 'p');
  raw.older_bytes = raw.older_blocks = 0;
  const NamedProfile profile = test::named(raw);
  for (const std::size_t columns : {80u, 100u, 140u}) {
    std::istringstream lines(top_sites_text(profile, {.rows = 0, .columns = columns}));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(observer::columns_of(line), columns) << line;
  }
}

TEST(TopSites, TheTableTellsSharesAndWhatIsLeftOut) {
  const std::string text =
      top_sites_text(test::named(test::make_mixed_profile()), {.rows = 2, .columns = 80});
  EXPECT_NE(text.find("72.4 %  0x101"), std::string::npos) << text;
  EXPECT_NE(text.find("and 2 more sites"), std::string::npos) << text;
  EXPECT_NE(text.find("0.98 KiB in 10 blocks from before"), std::string::npos) << text;
}

}  // namespace

}  // namespace tarn::profile
