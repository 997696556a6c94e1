#include <fmt/format.h>

#include <set>

#include "hand_made.h"
#include "look/doctor/doctor_report.h"
#include "look/map/map_colours.h"
#include "look/map/map_document.h"
#include "look/map/map_terminal.h"
#include "support/prelude.h"

namespace tarn::tool {
namespace {

using observer::kNone;
using observer::page_map_of;
using observer::PageMap;
using observer::Residency;
using observer::Severity;
using observer::Snapshot;
using observer::test::HandMade;
using observer::test::kPage;

// -- The map's JSON, and the compact form that the page carries.

/// As map_page/data.js reads a column.
std::vector<std::uint64_t> unpacked(const Json& column) {
  std::vector<std::uint64_t> values;
  for (const auto& value : column) {
    if (value.get<std::int64_t>() >= 0)
      values.push_back(value);
    else
      values.insert(values.end(), static_cast<std::size_t>(-value.get<std::int64_t>()), values.back());
  }
  return values;
}

TEST(MapDocument, JsonHasEverySpanWithItsFigures) {
  const Snapshot snapshot = observer::test::make_mixed_heap();
  const Residency residency = observer::test::all_resident(snapshot);
  const Json json = map_json(page_map_of(snapshot, &residency), snapshot, &residency);
  ASSERT_EQ(json["spans"].size(), snapshot.spans.size());
  EXPECT_EQ(json["spans"][1]["use"], "slab");
  EXPECT_EQ(json["spans"][1]["live"], 3);
  EXPECT_EQ(json["spans"][1]["resident_bytes"], observer::test::kPage);
  EXPECT_EQ(json["free_runs"].size(), 2U);
  EXPECT_EQ(json["totals"]["live_bytes"], snapshot.totals.live_bytes);
  EXPECT_EQ(json["pinners"]["classes"][0]["name"], "48 B");
}

TEST(MapDocument, WithoutAResidencyNothingIsSaidToBeResident) {
  const Snapshot snapshot = observer::test::make_mixed_heap();
  const Json json = map_json(page_map_of(snapshot, nullptr), snapshot, nullptr);
  EXPECT_EQ(json["is_residency_known"], false);
  EXPECT_TRUE(json["totals"]["rss_bytes"].is_null());
  EXPECT_FALSE(json["spans"][0].contains("resident_bytes"));
}

TEST(MapDocument, ColumnsOfThePageUnpackToAValueForEachPartAndCell) {
  const Snapshot snapshot = observer::test::make_mixed_heap();
  const PageMap map = page_map_of(snapshot, nullptr);
  const Json json = map_page_data(map, snapshot, nullptr);
  for (const char* name : {"gap", "grains", "kind", "live", "cached"})
    EXPECT_EQ(unpacked(json["parts"][name]).size(), map.parts.size()) << name;
  for (const auto& [name, column] : json["cells"].items())
    EXPECT_EQ(unpacked(column).size(), map.cells.size()) << name;
  const auto live = unpacked(json["parts"]["live"]);
  for (std::size_t i = 0; i < map.parts.size(); ++i) {
    const bool is_span = map.parts[i].span != observer::kNone;
    EXPECT_EQ(live[i], is_span ? snapshot.spans[map.parts[i].span].live : 0);
  }
}

TEST(MapDocument, RepeatsCostLittle) {
  observer::test::HandMade made;
  made.add_slabs(10'000, made.add_class(1024), 64);
  const Snapshot snapshot = made.snapshot();
  const Json json = map_page_data(page_map_of(snapshot, nullptr), snapshot, nullptr);
  EXPECT_LT(json.dump().size(), 2000U);
}

TEST(MapDocument, AnAddressIsTheSumOfTheGapsAndSizesBeforeIt) {
  observer::test::HandMade made;
  const auto size_class = made.add_class(1024);
  made.add_slab(size_class, 64);
  made.skip(10 * observer::test::kPage);
  made.add_slab(size_class, 64);
  const Snapshot snapshot = made.snapshot();
  const Json json = map_page_data(page_map_of(snapshot, nullptr), snapshot, nullptr);
  const auto gap = unpacked(json["parts"]["gap"]), grains = unpacked(json["parts"]["grains"]);
  EXPECT_EQ(4096 * gap[0], snapshot.spans[0].start);
  EXPECT_EQ(4096 * (gap[0] + grains[0] + gap[1]), snapshot.spans[1].start);
}

TEST(MapDocument, NamesCannotEndTheScriptOfThePage) {
  observer::test::HandMade made;
  made.edit().program = "</script><b>";
  const Snapshot snapshot = made.snapshot();
  const std::string page = map_page(page_map_of(snapshot, nullptr), snapshot, nullptr);
  EXPECT_EQ(page.find("</script><b>"), std::string::npos);
  EXPECT_NE(page.find("\\u003c/script>\\u003cb>"), std::string::npos);
}

// -- Which groups share a colour.

TEST(MapColours, FewGroupsHaveAColourEach) {
  HandMade made;
  for (std::uint64_t i = 1; i <= kHues; ++i) made.add_slabs(20 - i, made.add_class(16 * i), 1);
  made.add_free(kPage, true);
  const Snapshot snapshot = made.snapshot();
  const MapColours colours = colours_of(page_map_of(snapshot, nullptr));
  ASSERT_EQ(colours.colours.size(), kHues);
  EXPECT_EQ(colours.colours[2].name, "48 B");
  EXPECT_EQ(colours.of_group.back(), kNone);
}

TEST(MapColours, ManySizesShareColoursByRangesOfAboutEqualBytes) {
  HandMade made;
  for (std::uint64_t i = 1; i <= 60; ++i) made.add_slabs(1 + i * 7 % 10, made.add_class(16 * i), 1);
  const Snapshot snapshot = made.snapshot();
  const PageMap map = page_map_of(snapshot, nullptr);
  const MapColours colours = colours_of(map);
  ASSERT_EQ(colours.colours.size(), 6U);
  for (const MapColour& one : colours.colours) {
    EXPECT_GT(one.bytes, snapshot.totals.mapped_bytes / 8) << one.name;
    EXPECT_LT(one.bytes, snapshot.totals.mapped_bytes / 5) << one.name;
  }
  std::vector<std::uint32_t> of_class(61);
  for (std::size_t i = 0; i < map.groups.size(); ++i) of_class[map.groups[i].index] = colours.of_group[i];
  EXPECT_TRUE(std::ranges::is_sorted(of_class)) << "a range has no gap";
}

TEST(MapColours, ASizeWhoseClassHasALateNumberStandsAmongItsLike) {
  HandMade made;
  for (std::uint64_t i = 1; i <= 20; ++i) made.add_slab(made.add_class(16 * i), 1);
  made.add_slab(made.add_class(8), 1);
  const Snapshot snapshot = made.snapshot();
  const MapColours colours = colours_of(page_map_of(snapshot, nullptr));
  EXPECT_TRUE(colours.colours.front().name.starts_with("8 B – ")) << colours.colours.front().name;
  EXPECT_TRUE(colours.colours.back().name.ends_with(" – 320 B, 3 sizes")) << colours.colours.back().name;
}

TEST(MapColours, ASizeOfMostBytesHasAColourAlone) {
  HandMade made;
  for (std::uint64_t i = 1; i <= 20; ++i) made.add_slabs(i == 10 ? 1000 : 1, made.add_class(16 * i), 1);
  const Snapshot snapshot = made.snapshot();
  const MapColours colours = colours_of(page_map_of(snapshot, nullptr));
  ASSERT_EQ(colours.colours.size(), 6U);
  EXPECT_EQ(std::ranges::count(colours.colours, "160 B", &MapColour::name), 1);
}

TEST(MapColours, PoolsKeepTheirsAsFarAsTheyGo) {
  HandMade made;
  for (std::uint64_t i = 1; i <= 10; ++i) made.add_slab(made.add_class(16 * i), 1);
  for (std::uint64_t i = 1; i <= 8; ++i)
    made.add_pool_span(made.add_pool(observer::PoolKind::kFixed, fmt::format("pool {}", i), 64),
                       observer::SpanUse::kSlab, (20 - i) * kPage, 1);
  const Snapshot snapshot = made.snapshot();
  const MapColours colours = colours_of(page_map_of(snapshot, nullptr));
  ASSERT_EQ(colours.colours.size(), kHues);
  EXPECT_NE(colours.colours[6].name.find("pool 1"), std::string::npos) << colours.colours[6].name;
  EXPECT_NE(colours.colours[10].name.find("pool 5"), std::string::npos) << colours.colours[10].name;
  EXPECT_EQ(colours.colours[11].name, "3 others");
  std::set<std::uint32_t> hues;
  for (const MapColour& one : colours.colours) hues.insert(one.hue);
  EXPECT_EQ(hues.size(), kHues);
}

// -- The map as text: letters in a pipe, colours on a terminal, reduced where there are more cells than room.

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

TEST(MapTerminal, TheLegendTellsTheRangesOfSizesThatShareALetter) {
  HandMade made;
  for (std::uint64_t i = 1; i <= 20; ++i) made.add_slabs(10, made.add_class(16 * i), 1);
  const std::string text = text_of_map(made);
  EXPECT_NE(text.find("  " + std::string(30, 'a') + std::string(30, 'b')), std::string::npos) << text;
  EXPECT_NE(text.find("A 16 B – 48 B, 3 sizes 1.88 MiB (0"), std::string::npos) << text;
  EXPECT_NE(text.find("F 288 B – 320 B, 3 sizes"), std::string::npos) << text;
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
  const std::string text = pinners_text(snapshot, nullptr, 5, Colour::kOff);
  EXPECT_NE(
      text.find(
          "size class     48 B                         6.24 MiB        300    136,500    14.1 KiB    100\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("owner 0 (thread 1)"), std::string::npos) << text;
}

TEST(MapTerminal, TheTableHasAsManyOfEachKindAsAreWanted) {
  HandMade made;
  const auto owner = made.add_owner();
  for (const std::uint32_t bytes : {48, 64, 96}) made.add_slabs(100, made.add_class(bytes), 3, owner);
  const Snapshot snapshot = made.snapshot();
  const auto lines = [&](std::size_t most) {
    const std::string text = pinners_text(snapshot, nullptr, most, Colour::kOff);
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_EQ(lines(2) - lines(1), 1) << "of owners there is one";
  EXPECT_EQ(lines(0), lines(3));
  EXPECT_EQ(lines(3) - lines(2), 1);
}

TEST(MapTerminal, WhereNothingIsPinnedTheTableSaysSo) {
  EXPECT_EQ(pinners_text(HandMade().snapshot(), nullptr, 5, Colour::kOff),
            "No partly used span keeps free memory.\n");
}

// -- Findings as text and as JSON.

const std::vector<observer::Finding> kFindings = {
    {"fragmentation", Severity::kBad, 1000, "a lot lies free where nobody can have it back at all",
     "Do this."},
    {"swap", Severity::kNote, 10, "some of it", "Do that."},
    {"core_files", Severity::kOk, 0, "all is well", ""}};

TEST(DoctorReport, EachFindingHasASignAndItsAdviceBelow) {
  const auto snapshot = observer::test::HandMade().snapshot();
  EXPECT_EQ(doctor_text(snapshot, kFindings, 80, Colour::kOff),
            "game_server 4711, tarn 0.2.0: 1 bad, 1 to note, 1 fine; not looked for: "
            "leaks (--leaks)\n"
            "✗ a lot lies free where nobody can have it back at all\n"
            "  → Do this.\n"
            "! some of it\n"
            "  → Do that.\n"
            "✓ all is well\n");
}

TEST(DoctorReport, SaysNothingOfLeaksThatWereLookedFor) {
  const auto snapshot = observer::test::HandMade().snapshot();
  const std::vector<observer::Finding> findings = {{"leaks", Severity::kOk, 0, "no leaks", ""}};
  EXPECT_EQ(doctor_text(snapshot, findings, 80, Colour::kOff),
            "game_server 4711, tarn 0.2.0: 0 bad, 0 to note, 1 fine\n✓ no leaks\n");
  EXPECT_TRUE(doctor_json(snapshot, findings, {})["not_looked_for"].empty());
  EXPECT_EQ(doctor_json(snapshot, kFindings, {})["not_looked_for"], Json::array({"leaks"}));
}

TEST(DoctorReport, LinesAreNoWiderThanTheTerminal) {
  const auto snapshot = observer::test::HandMade().snapshot();
  const std::string text = doctor_text(snapshot, {kFindings[0]}, 40, Colour::kOff);
  EXPECT_NE(text.find("✗ a lot lies free where nobody can have\n  it back at all\n"), std::string::npos)
      << text;
}

TEST(DoctorReport, ColoursMarkTheSigns) {
  const auto snapshot = observer::test::HandMade().snapshot();
  EXPECT_NE(doctor_text(snapshot, kFindings, 80, Colour::kOn).find("\033[31m✗\033[0m a lot"),
            std::string::npos);
}

TEST(DoctorReport, JsonHasEveryMember) {
  const auto snapshot = observer::test::HandMade().snapshot();
  const Json json = doctor_json(snapshot, kFindings, {});
  EXPECT_EQ(json["pid"], 4711);
  ASSERT_EQ(json["findings"].size(), 3U);
  EXPECT_EQ(json["findings"][0], Json({{"id", "fragmentation"},
                                       {"severity", "bad"},
                                       {"bytes", 1000},
                                       {"what", kFindings[0].what},
                                       {"advice", "Do this."}}));
}

TEST(DoctorReport, TheNextCommandStandsLast) {
  const observer::NextStep next{"tarn profile 7 --types", "3.00 MiB are live"};
  EXPECT_EQ(next_text(next, 80), "next: `tarn profile 7 --types` (3.00 MiB are live)\n");
  EXPECT_EQ(next_text({}, 80), "");
  EXPECT_EQ(doctor_json({}, {}, next)["next"]["command"], "tarn profile 7 --types");
  EXPECT_TRUE(doctor_json({}, {}, {})["next"].is_null());
}

}  // namespace
}  // namespace tarn::tool
