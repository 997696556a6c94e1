#include "look/top/top_lines.h"

#include <fmt/format.h>

#include "look/processes/screen_text.h"
#include "look/top/panel.h"
#include "look/top/screen.h"
#include "look/top/top_keys.h"
#include "snapshot_builder.h"
#include "support/prelude.h"

namespace tarn::tool {
namespace {

using observer::Basis;
using observer::kTarnPage;
using observer::Part;
using observer::Pool;
using observer::PoolKind;
using observer::SnapshotBuilder;

void set_part(observer::Sheet& sheet, Part part, double mib) {
  sheet.bytes[static_cast<std::size_t>(part)] = static_cast<std::uint64_t>(mib * (1 << 20));
}

void set_class(Look& look, std::size_t index, std::uint64_t live, std::uint64_t blocks,
               std::uint64_t in_threads, std::uint64_t pinned, double rate) {
  observer::ClassUse& use = look.snapshot.classes[index];
  use.slabs = blocks * use.stride / kTarnPage;
  use.slab_bytes = blocks * use.stride;
  use.blocks = blocks;
  use.live = live;
  use.in_threads = in_threads;
  use.parked = in_threads / 2;
  use.free = blocks - live - use.cached();
  use.bytes_by_fill[0] = use.slab_bytes / 4;
  use.bytes_by_fill[7] = use.slab_bytes / 4 * 3;
  look.sheet.survivors_of_class[index] = {pinned / 1000, pinned * 2, pinned};
  look.rates.live_of_class[index] = rate;
}

Pool pool(PoolKind kind, const char* kind_name, const char* name, std::uint64_t number) {
  Pool made;
  made.kind = kind;
  made.kind_name = kind_name;
  made.name = name;
  made.number = number;
  return made;
}

void add_pools(Look& look) {
  Pool packets = pool(PoolKind::kFixed, "fixed pool", "packets", 1);
  packets.block_bytes = 2048;
  packets.live = 9911;
  packets.live_bytes = packets.live * 2048;
  packets.largest_count = 10000;
  packets.capacity = 10000;
  packets.peak_bytes = 10000 * 2048;
  packets.mapped_bytes = 21 << 20;
  packets.refusals = 17;
  Pool sessions = pool(PoolKind::kHandle, "handle pool", "sess\033[2Jions", 2);
  sessions.block_bytes = 512;
  sessions.live = 12004;
  sessions.live_bytes = sessions.live * 512;
  sessions.peak_bytes = 15311 * 512;
  sessions.is_peak_a_bound = true;
  sessions.mapped_bytes = 9 << 20;
  Pool zone = pool(PoolKind::kHeap, "heap", "zone 1", 3);
  zone.live = 100;
  zone.live_bytes = 40 << 20;
  zone.hard_limit = 100 << 20;
  zone.mapped_bytes = 48 << 20;
  zone.peak_bytes = 60 << 20;
  look.snapshot.pools = {packets, sessions, zone};
  look.sheet.bytes_of_pool = {20 << 20, 7 << 20, 44 << 20};
  look.rates.live_of_pool = {0, 2.25, -80};
}

void add_threads(Look& look) {
  look.snapshot.owners.resize(2);
  look.snapshot.owners[0].threads = 1;
  look.snapshot.owners[0].slab_bytes = 100 << 20;
  look.snapshot.owners[0].live_bytes = 60 << 20;
  look.snapshot.owners[0].pending = 3;
  look.snapshot.owners[1].is_shared_one = true;
  look.snapshot.owners[1].pending = 2000;
  look.snapshot.threads.resize(2);
  look.snapshot.threads[0] = {
      .record = 0x1000, .number = 1, .owner = 0, .is_alive = true, .cached_bytes = 300 << 10};
  look.snapshot.threads[1] = {.record = 0x2000, .number = 0, .owner = 1, .cached_bytes = 4096};
  look.rates.threads = {{12, 0.5}, {0, 0}};
  look.rates.owners = {{12, 0.5, 7}, {0, 0, 0}};
}

Look game_server() {
  SnapshotBuilder made;
  made.add_class(48, 48);
  made.add_class(1000, 1024);
  Look look{*made, {}, {}, 3 * 86400 + 4 * 3600 + 12 * 60, {}, false};
  look.snapshot.pid = 4711;
  look.snapshot.program = "game_server";
  look.snapshot.library_version = "0.2.0";
  look.snapshot.totals.live_blocks = 4'212'345;
  look.snapshot.totals.large_blocks = 12;
  look.sheet.rss_bytes = std::uint64_t{2911} << 20;
  set_part(look.sheet, Part::kLive, 1204);
  set_part(look.sheet, Part::kRounding, 71);
  set_part(look.sheet, Part::kCached, 28.25);
  set_part(look.sheet, Part::kDepot, 9.75);
  set_part(look.sheet, Part::kFreeInSlabs, 903);
  set_part(look.sheet, Part::kFreePages, 64);
  set_part(look.sheet, Part::kMetadata, 29);
  set_part(look.sheet, Part::kOther, 602);
  look.sheet.survivors = {2'100'000, 900 << 20, 850 << 20};
  look.sheet.survivors_of_class.resize(3);
  look.rates.seconds = 1;
  look.rates.live_of_class.resize(3);
  set_class(look, 1, 4'100'000, 10'300'000, 200'000, 271 << 20, 312);
  set_class(look, 2, 9'000, 12'800, 100, 0, -1.5);
  add_pools(look);
  add_threads(look);
  return look;
}

std::string text_of_lines(const std::vector<Line>& lines) {
  std::string text;
  for (const Line& line : lines) text += text_of(line, Colour::kOff);
  return text;
}

std::string shown(const Look& look, const TopState& state, std::size_t width, std::size_t height) {
  return text_of_lines(top_lines(look, state, width, height));
}

/// Compares with a committed file; with TARN_UPDATE_GOLDEN=1 writes the file anew.
void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = fmt::format("{}/{}.txt", TARN_TEST_GOLDEN_DIRECTORY, name);
  if (std::getenv("TARN_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  std::ostringstream golden;
  golden << std::ifstream(path).rdbuf();
  EXPECT_EQ(text, golden.str()) << name;
}

TEST(TopLines, TheOverviewAtEightyColumnsStacksItsTables) {
  expect_golden("top_overview_80", shown(game_server(), {}, 80, 24));
}

TEST(TopLines, TheOverviewAt140ColumnsHasTwoColumns) {
  expect_golden("top_overview_140", shown(game_server(), {}, 140, 20));
}

TEST(TopLines, APipeGetsAllRowsAndNoKeys) {
  expect_golden("top_pipe_80", shown(game_server(), {}, 80, kAnyHeight));
}

TEST(TopLines, APipeGetsAsManyRowsOfATableAsAreWanted) {
  const std::string all = shown(game_server(), {}, 80, kAnyHeight);
  EXPECT_EQ(shown(game_server(), {.most_rows = 3}, 80, kAnyHeight), all);
  const std::string one = shown(game_server(), {.most_rows = 1}, 80, kAnyHeight);
  EXPECT_NE(one.find("\n… 1 more\n\npool"), std::string::npos) << one;
  EXPECT_NE(one.find("\nzone 1 "), std::string::npos) << one;
  EXPECT_NE(one.find("\n… 2 more\n\nthread"), std::string::npos) << one;
}

TEST(TopLines, TheViewOfClassesHasWhatTheWidthHasRoomFor) {
  TopState state;
  state.view = TopView::kClasses;
  expect_golden("top_classes_140", shown(game_server(), state, 140, 12));
  expect_golden("top_classes_80", shown(game_server(), state, 80, 12));
}

TEST(TopLines, TheViewOfThreadsTellsOwnersToo) {
  TopState state;
  state.view = TopView::kThreads;
  expect_golden("top_threads_80", shown(game_server(), state, 80, 16));
}

TEST(TopLines, TheViewOfPoolsTellsKindsAndLimits) {
  TopState state;
  state.view = TopView::kPools;
  expect_golden("top_pools_140", shown(game_server(), state, 140, 12));
}

TEST(TopLines, NoScreenIsTooSmall) {
  const Look look = game_server();
  for (std::size_t height = 0; height < 30; ++height)
    for (const std::size_t width : {0, 1, 20, 79, 131, 132, 200}) {
      for (const TopView view : {TopView::kOverview, TopView::kClasses, TopView::kThreads, TopView::kPools}) {
        TopState state;
        state.view = view;
        const std::vector<Line> lines = top_lines(look, state, width, height);
        ASSERT_EQ(lines.size(), height);
        for (const Line& line : lines) ASSERT_LE(width_of(line), width);
      }
    }
}

TEST(TopLines, ATornLookSaysHowFarOffItMayBe) {
  Look look = game_server();
  look.snapshot.exactness = {.is_exact = false, .moved_blocks = 123, .bad_spans = 2};
  const std::string title = text_of(top_title(look), Colour::kOff);
  EXPECT_NE(title.find("± 123 blocks  2 spans unreadable"), std::string::npos) << title;
}

TEST(TopLines, PartsThatDoNotAddUpAreSaidSo) {
  Look look = game_server();
  set_part(look.sheet, Part::kOther, 2);
  EXPECT_NE(text_of_lines(sheet_lines(look.sheet, 200)).find("(the parts are 20.6 % off)"),
            std::string::npos);
}

TEST(TopLines, ACoreFilesSheetIsOfMappedBytes) {
  Look look = game_server();
  look.sheet.basis = Basis::kMapped;
  look.sheet.rss_bytes = 0;
  const std::string text = text_of_lines(sheet_lines(look.sheet, 200));
  EXPECT_EQ(text.find("mapped 2,911.0 MiB = live"), 0u) << text;
  EXPECT_EQ(text.find("not tarn"), std::string::npos);
}

TEST(TopLines, OneLookHasNoRates) {
  Look look = game_server();
  look.rates.seconds = 0;
  const std::string text = shown(look, {}, 80, kAnyHeight);
  EXPECT_EQ(text.find("+312"), std::string::npos);
}

TEST(TopLines, TheOrderDecidesWhichClassComesFirst) {
  TopState state;
  EXPECT_LT(shown(game_server(), state, 80, kAnyHeight).find("48 B"),
            shown(game_server(), state, 80, kAnyHeight).find("1,000 B"));
  Look look = game_server();
  look.rates.live_of_class[2] = -5000;
  state.order() = TopOrder::kRate;
  EXPECT_GT(shown(look, state, 80, kAnyHeight).find("48 B"),
            shown(look, state, 80, kAnyHeight).find("1,000 B"));
}

// -- Figures and panels ----------------------------------------------------------------------------------

TEST(ScreenText, FiguresAreShort) {
  EXPECT_EQ(short_count(99'999), "99,999");
  EXPECT_EQ(short_count(123'456), "123 k");
  EXPECT_EQ(short_count(999'999), "1.00 M");
  EXPECT_EQ(short_count(UINT64_MAX), "18.4 E");
  EXPECT_EQ(short_bytes(999), "999 B");
  EXPECT_EQ(short_bytes(65536), "64.0 KiB");
  EXPECT_EQ(short_bytes(UINT64_MAX), "16.0 EiB");
  EXPECT_EQ(short_change(-0.25), "-0.2");
  EXPECT_EQ(short_change(0), "0");
  EXPECT_EQ(up_time(3723), "01:02:03");
}

TEST(ScreenText, NamesCannotMoveTheCursorNorShiftColumns) {
  EXPECT_EQ(in_single_columns("a\033[2J\n\x7f"), "a?[2J??");
  EXPECT_EQ(in_single_columns("Zürich"), "Zürich");
  EXPECT_EQ(in_single_columns("\xe6\x9d\xb1x"), "?x");  // takes two columns
  EXPECT_EQ(in_single_columns("e\xcc\x81"), "e?");      // combines with the one before
  EXPECT_EQ(in_single_columns("\xff\xc2"), "??");
  EXPECT_EQ(in_single_columns(std::string("a\0b", 3)), "a?b");
}

TEST(ScreenText, LinesAreCutBetweenCharacters) {
  EXPECT_EQ(observer::first_columns("±±±", 2), "±±");
  EXPECT_EQ(width_of(cut(Line{{"ab"}, {"█░"}}, 3)), 3u);
  EXPECT_EQ(bar(0.5, 4), "██░░");
  EXPECT_EQ(bar(7, 2), "██");
}

TEST(Panel, LeavesOutColumnsOfTheHighestRankFirst) {
  Panel panel({{"name", Alignment::kLeft}, {"rare", Alignment::kRight, 2}, {"often", Alignment::kRight, 1}});
  panel.add_row({{"x"}, {"1"}, {"2"}});
  EXPECT_EQ(text_of_lines(panel.lines(20, 9)), "name  rare  often\nx        1      2\n");
  EXPECT_EQ(text_of_lines(panel.lines(16, 9)), "name  often\nx         2\n");
  EXPECT_EQ(text_of_lines(panel.lines(10, 9)), "name\nx\n");
}

TEST(Panel, SaysHowManyRowsItLeavesOut) {
  Panel panel({"n"});
  for (int i = 0; i < 10; ++i) panel.add_row({{std::to_string(i)}});
  EXPECT_EQ(text_of_lines(panel.lines(20, 4, 5)), "n\n5\n6\n… 3 more\n");
}

TEST(Panel, LinesAreSharedEvenlyAmongThoseThatWantThem) {
  EXPECT_EQ(shared_lines({2, 50, 50}, 22), (std::vector<std::size_t>{2, 10, 10}));
  EXPECT_EQ(shared_lines({2, 3}, 100), (std::vector<std::size_t>{2, 3}));
}

using What = TopAction::What;

constexpr std::size_t kPage = 10, kRows = 35;

What typed(int key, TopState& state) { return take_key(key, kPage, kRows, state).what; }

TEST(TopKeys, DigitsAndTabChooseTheView) {
  TopState state;
  EXPECT_EQ(typed('4', state), What::kDraw);
  EXPECT_EQ(state.view, TopView::kPools);
  typed('\t', state);
  EXPECT_EQ(state.view, TopView::kOverview);
  EXPECT_EQ(typed('5', state), What::kNothing);
}

TEST(TopKeys, ScrollingEndsAtTheFirstAndTheLastRow) {
  TopState state;
  typed(kKeyUp, state);
  EXPECT_EQ(state.first(), 0u);
  for (int i = 0; i < 5; ++i) typed(kKeyPageDown, state);
  EXPECT_EQ(state.first(), kRows - 1);
  typed(kKeyHome, state);
  EXPECT_EQ(state.first(), 0u);
  typed(kKeyEnd, state);
  typed(kKeyUp, state);
  EXPECT_EQ(state.first(), kRows - 2);
}

TEST(TopKeys, EachViewScrollsForItself) {
  TopState state;
  typed('2', state);
  typed(kKeyDown, state);
  typed('3', state);
  EXPECT_EQ(state.first(), 0u);
  typed('2', state);
  EXPECT_EQ(state.first(), 1u);
}

TEST(TopKeys, AListThatBecameShortScrollsFromItsEnd) {
  TopState state;
  state.first() = 30;
  take_key(kKeyUp, kPage, 3, state);
  EXPECT_EQ(state.first(), 2u);
}

TEST(TopKeys, EveryOrderComesAroundAgain) {
  for (const char view : {'1', '2', '3', '4'}) {
    TopState state;
    typed(view, state);
    int steps = 0;
    do {
      typed('s', state);
    } while (state.order() != TopOrder::kBytes && ++steps < 10);
    EXPECT_LT(steps, 10) << view;
  }
}

TEST(TopKeys, LettersNameOtherCommands) {
  TopState state;
  EXPECT_STREQ(take_key('m', kPage, kRows, state).command, "map");
  EXPECT_STREQ(take_key('h', kPage, kRows, state).command, "heap");
  EXPECT_STREQ(take_key('l', kPage, kRows, state).command, "leaks");
  EXPECT_STREQ(take_key('d', kPage, kRows, state).command, "doctor");
  EXPECT_EQ(typed('d', state), What::kRunCommand);
}

TEST(TopKeys, AnyKeyEndsTheHelpAndDoesNothingElse) {
  TopState state;
  typed('?', state);
  EXPECT_TRUE(state.shows_help);
  EXPECT_EQ(typed('p', state), What::kDraw);
  EXPECT_FALSE(state.shows_help);
  EXPECT_FALSE(state.is_paused);
  typed('p', state);
  EXPECT_TRUE(state.is_paused);
}

TEST(TopKeys, ASignalQuitsAsQDoes) {
  TopState state;
  typed('?', state);
  EXPECT_EQ(typed(kKeyQuit, state), What::kQuit);
  EXPECT_EQ(typed('q', state), What::kQuit);
  EXPECT_EQ(typed(' ', state = {}), What::kLookNow);
}

}  // namespace
}  // namespace tarn::tool
