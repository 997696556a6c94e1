#include "base/text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace tarn::internal {
namespace {

template <typename Append>
std::string text_of(Append append) {
  FixedText<100> text;
  append(text);
  return std::string(text.data(), text.length());
}

std::string decimal(std::uint64_t value) {
  return text_of([&](Text& text) { text.add_decimal(value); });
}
std::string hex(std::uint64_t value) {
  return text_of([&](Text& text) { text.add_hex(value); });
}
std::string bytes(std::uint64_t value) {
  return text_of([&](Text& text) { text.add_bytes(value); });
}

TEST(Text, WritesDecimals) {
  EXPECT_EQ(decimal(0), "0");
  EXPECT_EQ(decimal(7), "7");
  EXPECT_EQ(decimal(10203), "10203");
  EXPECT_EQ(decimal(UINT64_MAX), "18446744073709551615");
}

TEST(Text, WritesHexadecimalsWithoutLeadingZeros) {
  EXPECT_EQ(hex(0), "0x0");
  EXPECT_EQ(hex(0x10), "0x10");
  EXPECT_EQ(hex(0x7f00abcd1234), "0x7f00abcd1234");
  EXPECT_EQ(hex(UINT64_MAX), "0xffffffffffffffff");
}

TEST(Text, WritesBytesWithAUnitAndAtMostOneDecimal) {
  EXPECT_EQ(bytes(0), "0 B");
  EXPECT_EQ(bytes(1023), "1023 B");
  EXPECT_EQ(bytes(1024), "1 KiB");
  EXPECT_EQ(bytes(1536), "1.5 KiB");
  EXPECT_EQ(bytes(std::uint64_t{64} << 20), "64 MiB");
  EXPECT_EQ(bytes(std::uint64_t{5} << 30), "5 GiB");
  EXPECT_EQ(bytes(std::uint64_t{3000} << 40), "3000 TiB");
}

TEST(Text, GroupsDigitsByThrees) {
  const auto grouped = [](std::uint64_t value) {
    FixedText<32> text;
    text.add_grouped(value);
    return std::string(text.data(), text.length());
  };
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1'234'056), "1,234,056");
  EXPECT_EQ(grouped(UINT64_MAX), "18,446,744,073,709,551,615");
}

TEST(Text, HexDigitsHaveValues) {
  EXPECT_EQ(hex_value('0'), 0);
  EXPECT_EQ(hex_value('9'), 9);
  EXPECT_EQ(hex_value('f'), 15);
  EXPECT_EQ(hex_value('g'), -1);
  EXPECT_EQ(hex_value('-'), -1);
}

TEST(Text, IsCutWithoutAThrow) {
  EXPECT_EQ(front_of("abc", 2), "ab");
  EXPECT_EQ(front_of("abc", 9), "abc");
  EXPECT_EQ(behind_front("abc", 1), "bc");
  EXPECT_EQ(behind_front("abc", 9), "");
}

TEST(Text, DropsWhatDoesNotFitAndWritesNoFurther) {
  char storage[8] = "-------";
  Text text(storage, 4);
  text.add("ab").add_decimal(123456).add('x').add_hex(255);
  EXPECT_EQ(std::string(text.data(), text.length()), "ab12");
  EXPECT_STREQ(storage + 4, "---");
  text.clear();
  EXPECT_EQ(text.length(), 0u);
}

}  // namespace
}  // namespace tarn::internal
