#include "look/top_lines.h"

#include <gtest/gtest.h>

#include "look/panel.h"
#include "look/screen_text.h"
#include "snapshot_builder.h"

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
  sessions.mapped_bytes = 9 << 20;
  Pool zone = pool(PoolKind::kHeap, "heap", "zone 1", 3);
  zone.live = 100;
  zone.live_bytes = 40 << 20;
  zone.hard_limit = 100 << 20;
  zone.mapped_bytes = 48 << 20;
  zone.peak_bytes = 60 << 20;
  look.snapshot.pools = {packets, sessions, zone};
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
  Look look{*made, {}, {}, 3 * 86400 + 4 * 3600 + 12 * 60, false};
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
  std::string text = "\n";
  for (const Line& line : lines) text += text_of(line, Colour::kOff);
  return text;
}

std::string shown(const Look& look, const TopState& state, std::size_t width, std::size_t height) {
  return text_of_lines(top_lines(look, state, width, height));
}

TEST(TopLines, TheOverviewAtEightyColumnsStacksItsTables) {
  EXPECT_EQ(shown(game_server(), {}, 80, 24), R"(
)");
}

TEST(TopLines, TheOverviewAt140ColumnsHasTwoColumns) {
  EXPECT_EQ(shown(game_server(), {}, 140, 20), R"(
)");
}

TEST(TopLines, APipeGetsAllRowsAndNoKeys) {
  EXPECT_EQ(shown(game_server(), {}, 80, kAnyHeight), R"(
)");
}

TEST(TopLines, TheViewOfClassesHasWhatTheWidthHasRoomFor) {
  TopState state;
  state.view = TopView::kClasses;
  EXPECT_EQ(shown(game_server(), state, 140, 12), R"(
)");
  EXPECT_EQ(shown(game_server(), state, 80, 12), R"(
)");
}

TEST(TopLines, TheViewOfThreadsTellsOwnersToo) {
  TopState state;
  state.view = TopView::kThreads;
  EXPECT_EQ(shown(game_server(), state, 80, 16), R"(
)");
}

TEST(TopLines, TheViewOfPoolsTellsKindsAndLimits) {
  TopState state;
  state.view = TopView::kPools;
  EXPECT_EQ(shown(game_server(), state, 140, 12), R"(
)");
}

}  // namespace
}  // namespace tarn::tool
