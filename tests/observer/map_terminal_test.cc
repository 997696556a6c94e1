// The map as text: letters in a pipe, colours on a terminal, reduced where there are more cells than room.
#include "look/map/map_terminal.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hand_made.h"

namespace tarn::tool {
namespace {

using observer::kNone;
using observer::page_map_of;
using observer::PageMap;
using observer::Snapshot;
using observer::test::HandMade;
using observer::test::kPage;

constexpr MapLook kPipe{.width = 80, .most_rows = 40, .depth = ColourDepth::kNone};

std::string text_of_map(const HandMade& made, const MapLook& look = kPipe) {
  const Snapshot snapshot = made.snapshot();
  return map_text(page_map_of(snapshot, nullptr), snapshot, look);
}

TEST(MapTerminal, LettersTellTheClassAndCapitalsThatAtLeastHalfIsLive) {
  HandMade made;
  const auto small = made.add_class(48), middle = made.add_class(1024);
  made.add_slabs(3, small, 1365);
  made.add_slabs(2, small, 3);
  made.add_slab(middle, 64);
  made.add_free(2 * kPage, true);
  made.add_free(2 * kPage, false);
  const std::string text = text_of_map(made);
  EXPECT_NE(text.find("0x7f0000000000  AAAaaB::..\n"), std::string::npos) << text;
  EXPECT_NE(text.find("A 48 B 320 KiB (60 %)"), std::string::npos) << text;
  EXPECT_NE(text.find("64.0 KiB a cell\n"), std::string::npos) << text;
}

TEST(MapTerminal, RowsBeginWithTheAddressOfTheirFirstCell) {
  HandMade made;
  made.add_slabs(100, made.add_class(1024), 64);
  const std::string text = text_of_map(made);
  EXPECT_NE(text.find("0x7f0000000000  " + std::string(64, 'A') + "\n0x7f0000400000  " +
                      std::string(36, 'A') + "\n"),
            std::string::npos)
      << text;
}

TEST(MapTerminal, AMapOfManyCellsIsReducedAndSaysByHowMuch) {
  HandMade made;
  const auto size_class = made.add_class(1024);
  made.add_slabs(6000, size_class, 64);
  const std::string text = text_of_map(made);
  EXPECT_NE(text.find("256 KiB a cell: reduced, 4 pages each"), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), 'A'), 1500 + 1);  // and one in the legend
}

TEST(MapTerminal, LongRunsOfWhatWentBackAreLeftOutAndTold) {
  HandMade made;
  made.add_slab(made.add_class(1024), 64);
  made.add_free(1000 * kPage, false);
  const std::string text = text_of_map(made);
  EXPECT_NE(text.find("62.5 MiB given back in long runs are left out"), std::string::npos) << text;
}

TEST(MapTerminal, ColoursAre24BitOr256AsTheTerminalHasThem) {
  HandMade made;
  made.add_slab(made.add_class(1024), 64);
  const std::string deep = text_of_map(made, {.width = 80, .most_rows = 40, .depth = ColourDepth::k24Bit});
  const std::string few = text_of_map(made, {.width = 80, .most_rows = 40, .depth = ColourDepth::k256});
  EXPECT_NE(deep.find("\033[38;2;66;165;245m█\033[0m"), std::string::npos) << deep;
  EXPECT_NE(few.find("\033[38;5;75m█\033[0m"), std::string::npos) << few;
}

TEST(MapTerminal, FreeButResidentIsHatched) {
  HandMade made;
  made.add_slab(made.add_class(48), 3);
  const std::string text = text_of_map(made, {.width = 80, .most_rows = 40, .depth = ColourDepth::k24Bit});
  EXPECT_NE(text.find("m▒\033[0m\n"), std::string::npos) << text;
}

TEST(MapTerminal, GroupsBeyondTheColoursAreOneItemOfTheLegend) {
  HandMade made;
  for (std::uint64_t i = 1; i <= 20; ++i) made.add_slabs(40 - i, made.add_class(16 * i), 1);
  const std::string text = text_of_map(made);
  EXPECT_NE(text.find("K 176 B"), std::string::npos) << text;
  EXPECT_NE(text.find("L 9 others"), std::string::npos) << text;
}

TEST(MapTerminal, NoLineIsWiderThanAskedFor) {
  const Snapshot snapshot = observer::test::make_mixed_heap();
  const PageMap map = page_map_of(snapshot, nullptr);
  const std::string text =
      map_text(map, snapshot, {.width = 60, .most_rows = 40, .depth = ColourDepth::kNone});
  const std::string rows = text.substr(text.find("\n\n") + 2);
  for (std::size_t at = 0; at < rows.find("\n\n");) {
    const std::size_t end = rows.find('\n', at);
    EXPECT_LE(width_of(rows.substr(at, end - at)), 60U);
    at = end + 1;
  }
}

TEST(MapTerminal, AProgramWithoutPagesHasAMapThatSaysSo) {
  EXPECT_NE(text_of_map(HandMade()).find("No pages."), std::string::npos);
}

TEST(MapTerminal, TheTableNamesWhatPinsMost) {
  HandMade made;
  const auto owner = made.add_owner();
  made.add_thread(owner);
  made.add_slabs(100, made.add_class(48), 3, owner);
  const Snapshot snapshot = made.snapshot();
  const std::string text = pinners_text(snapshot, nullptr, Colour::kOff);
  EXPECT_NE(
      text.find(
          "size class     48 B                         6.24 MiB        300    136,500    14.1 KiB    100\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("owner 0 (thread 1)"), std::string::npos) << text;
}

TEST(MapTerminal, WhereNothingIsPinnedTheTableSaysSo) {
  EXPECT_EQ(pinners_text(HandMade().snapshot(), nullptr, Colour::kOff),
            "No partly used span keeps free memory.\n");
}

}  // namespace
}  // namespace tarn::tool
