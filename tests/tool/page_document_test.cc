#include "page/page_document.h"

#include <gtest/gtest.h>

#include "page_of.h"

namespace tarn::tool {
namespace {

TEST(PageDocument, TextThatLooksLikeMarkupCannotEndTheScriptElement) {
  const std::string page = page_text(empty_page("</script><b>"));
  EXPECT_EQ(document_in(page).at("title"), "</script><b>");
  EXPECT_EQ(page.find("</script><b>"), std::string::npos);
}

TEST(PageDocument, AFigureHasItsQuartilesOnlyWhereThereAreSome) {
  Json json = bars_part("t", {}, page_axis("time; less is better", "ns"));
  add_bar(json, 0, {.lower_quartile = 4, .median = 5, .upper_quartile = 6});
  add_bar(json, 1, {.median = 7});
  EXPECT_EQ(json.at("bars")[0], Json({{"c", 0}, {"value", 5.0}, {"low", 4.0}, {"high", 6.0}}));
  EXPECT_EQ(json.at("bars")[1], Json({{"c", 1}, {"value", 7.0}}));
  EXPECT_EQ(json.at("axis"), Json({{"title", "time; less is better"}, {"unit", "ns"}, {"log", false}}));
}

TEST(PageDocument, ASeriesIsAContendersOrHasAName) {
  Json curves = curves_part("t", {}, page_axis("x", "%"), page_axis("y", "bytes"));
  add_series(curves, {{"c", 1}}, Json::array({curve_point(0, 1)}));
  add_series(curves, {{"name", "asked for"}}, Json::array({curve_point(0, 2)}));
  const Json series = curves.at("series");
  EXPECT_EQ(series[0].at("c"), 1);
  EXPECT_EQ(series[1].at("name"), "asked for");
  EXPECT_FALSE(series[1].contains("c"));
}

TEST(PageDocument, ACellIsATextUntilThereIsMoreToSayOfIt) {
  const Json table =
      table_part("t", {}, Json::array({page_cell("a"), page_cell("b", Mark::kPlain, {{"c", 0}})}));
  EXPECT_EQ(table.at("columns"), Json::array({"a", {{"text", "b"}, {"c", 0}}}));
  EXPECT_EQ(page_cell("x", Mark::kPlain, {{"small", ""}, {"note", ""}}), "x");
  const Json row = contender_row(2, Json::array({page_cell("x"), page_cell("1.0", Mark::kBest)}));
  EXPECT_EQ(row.at("c"), 2);
  EXPECT_EQ(row.at("cells"), Json::array({"x", {{"text", "1.0"}, {"mark", "best"}}}));
}

}  // namespace
}  // namespace tarn::tool
