#include "report/table.h"

#include "page/page_document.h"
#include "page_of.h"
#include "support/prelude.h"
#include "system/figures/format.h"

namespace tarn::tool {
namespace {

TEST(Table, ColumnsAreAsWideAsTheirWidestCell) {
  Table table({{"name", Alignment::kLeft}, {"n"}});
  table.add_row({{"a"}, {"1000"}});
  table.add_row({{"longer"}, {"2"}});
  EXPECT_EQ(table.render(Colour::kOff),
            "name       n\n"
            "a       1000\n"
            "longer     2\n");
}

TEST(Table, CharactersOfSeveralBytesTakeOneColumn) {
  EXPECT_EQ(width_of("±1.0%"), 5u);
  Table table({{"x"}, {"y"}});
  table.add_row({{"±1"}, {"5"}});
  EXPECT_EQ(table.render(Colour::kOff), " x  y\n±1  5\n");
}

TEST(Table, GroupHeadingsStandAboveTheirFirstColumn) {
  Table table({{"", Alignment::kLeft}, {"a"}, {"b"}, {"c"}});
  table.set_groups({{"", 1}, {"one", 2}, {"two", 1}});
  table.add_row({{"r"}, {"11"}, {"22"}, {"33"}});
  EXPECT_EQ(table.render(Colour::kOff),
            "     one       two\n"
            "      a   b     c\n"
            "r    11  22    33\n");
}

TEST(Table, ColoursDoNotShiftColumns) {
  Table table({{"a"}, {"b"}});
  table.add_row({{"1", Style::kGood}, {"2", Style::kBad}});
  std::string text = table.render(Colour::kOn);
  EXPECT_NE(text.find("\033[32m1\033[0m  \033[31m2\033[0m"), std::string::npos);
}

TEST(Table, WithoutColoursThereIsNoEscape) {
  Table table({"a"});
  table.add_row({{"1", Style::kGood}});
  EXPECT_EQ(table.render(Colour::kOff).find('\033'), std::string::npos);
  EXPECT_EQ(styled("x", Style::kBad, Colour::kOff), "x");
}

TEST(Format, FiguresHaveFourSignificantDigits) {
  EXPECT_EQ(format_seconds(1.23456), "1.235 s");
  EXPECT_EQ(format_seconds(0.0123456), "12.35 ms");
  EXPECT_EQ(format_seconds(123.456), "123.5 s");
  EXPECT_EQ(format_seconds(12345.6), "12346 s");
}

TEST(Format, SizesTakeTheLargestUnitThatFits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1,023 B");
  EXPECT_EQ(format_bytes(1536), "1.500 KiB");
  EXPECT_EQ(format_bytes(3.0 * (1 << 30)), "3.000 GiB");
}

TEST(Format, CountsSetTheirThousandsApart) {
  EXPECT_EQ(format_count(7), "7");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1,000");
  EXPECT_EQ(format_count(1234567), "1,234,567");
}

TEST(Format, AColumnIsWrittenInTheUnitOfItsLargestValue) {
  const Unit unit = unit_for(Quantity::kSeconds, 2.0);
  EXPECT_STREQ(unit.name, "s");
  EXPECT_EQ(format_in(unit, 0.25), "0.250");
}

TEST(Format, ACommandReadsBackTheSameInAShell) {
  EXPECT_EQ(format_command({"ls", "-l", "a b", "", "it's", "$x"}), "ls -l 'a b' '' 'it'\\''s' '$x'");
}

TEST(Format, SignalsHaveTheirNames) {
  EXPECT_EQ(format_signal(SIGSEGV), "SIGSEGV (Segmentation fault)");
  EXPECT_EQ(format_signal(1000), "signal 1000");
}

TEST(Format, TimeLeftIsRoundedUpToWholeSeconds) {
  EXPECT_EQ(format_seconds_left(0.2), "1 s");
  EXPECT_EQ(format_seconds_left(80), "1 min 20 s");
  EXPECT_EQ(format_seconds_left(7260), "2 h 1 min");
}

TEST(Format, WrappedLinesBreakBetweenWords) {
  EXPECT_EQ(wrap("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrap("unbreakable", 4), (std::vector<std::string>{"unbreakable"}));
}

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
