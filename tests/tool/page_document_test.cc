#include "page/page_document.h"

#include <gtest/gtest.h>

#include "page_of.h"

namespace tarn::tool {
namespace {

TEST(PageDocument, TextThatLooksLikeMarkupCannotEndTheScriptElement) {
  const PageDocument document = {.title = "</script><b>", .sentence = "a sentence"};
  const std::string page = page_text(document);
  EXPECT_EQ(document_in(page).at("title"), "</script><b>");
  EXPECT_EQ(page.find("</script><b>"), std::string::npos);
}

TEST(PageDocument, AFigureHasItsQuartilesOnlyWhereThereAreSome) {
  Bars bars = {.title = "t", .note = {}, .axis = {"time; less is better", "ns"}, .bars = {}};
  bars.bars = {{0, {5, 4, 6}}, {1, {7}}};
  const Json json = to_json(bars);
  EXPECT_EQ(json.at("bars")[0], Json({{"c", 0}, {"value", 5.0}, {"low", 4.0}, {"high", 6.0}}));
  EXPECT_EQ(json.at("bars")[1], Json({{"c", 1}, {"value", 7.0}}));
  EXPECT_EQ(json.at("axis"), Json({{"title", "time; less is better"}, {"unit", "ns"}, {"log", false}}));
}

TEST(PageDocument, ASeriesIsAContendersOrHasAName) {
  const Curves curves = {
      "t", {}, {"x", "%"}, {"y", "bytes"}, {{1, {}, {{0, 1}}}, {{}, "asked for", {{0, 2}}}}};
  const Json series = to_json(curves).at("series");
  EXPECT_EQ(series[0].at("c"), 1);
  EXPECT_EQ(series[1].at("name"), "asked for");
  EXPECT_FALSE(series[1].contains("c"));
}

TEST(PageDocument, ACellIsATextUntilThereIsMoreToSayOfIt) {
  PageTable table = {"t", {}, {}, {{"a"}, {.text = "b", .contender = 0}}, {}};
  table.rows = {{{{"only a heading"}}}, {{{"x"}, {"1.0", Mark::kBest}}, 2}};
  const Json json = to_json(table);
  EXPECT_EQ(json.at("columns"), Json::array({"a", {{"text", "b"}, {"c", 0}}}));
  EXPECT_EQ(json.at("rows")[0], Json({{"head", "only a heading"}}));
  EXPECT_EQ(json.at("rows")[1].at("c"), 2);
  EXPECT_EQ(json.at("rows")[1].at("cells"), Json::array({"x", {{"text", "1.0"}, {"mark", "best"}}}));
}

}  // namespace
}  // namespace tarn::tool
