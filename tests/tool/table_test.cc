#include "report/table.h"

#include <gtest/gtest.h>

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
  Table table({{"a"}});
  table.add_row({{"1", Style::kGood}});
  EXPECT_EQ(table.render(Colour::kOff).find('\033'), std::string::npos);
  EXPECT_EQ(styled("x", Style::kBad, Colour::kOff), "x");
}

}  // namespace
}  // namespace tarn::tool
