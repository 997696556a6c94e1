// The map's JSON, and the compact form that the page carries.
#include "look/map/map_document.h"

#include <gtest/gtest.h>

#include "hand_made.h"
#include "look/map/map_page.h"

namespace tarn::tool {
namespace {

using observer::page_map_of;
using observer::PageMap;
using observer::Residency;
using observer::Snapshot;

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

}  // namespace
}  // namespace tarn::tool
