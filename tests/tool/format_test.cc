#include "system/figures/format.h"

#include <gtest/gtest.h>

#include <csignal>

namespace tarn::tool {
namespace {

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

}  // namespace
}  // namespace tarn::tool
