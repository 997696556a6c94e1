#include "base/text.h"

#include "base/leak_rules.h"
#include "base/printable.h"
#include "support/hostile_names.h"
#include "support/prelude.h"

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

std::string shown(const char* name, std::size_t most = 1000) {
  FixedText<1000> text;
  add_shown(text, name, most);
  return {text.data(), text.length()};
}

TEST(Printable, TheTableAscendsWithoutOverlaps) {
  for (std::size_t i = 1; i < std::size(kCodesNotShown); ++i) {
    EXPECT_LE(kCodesNotShown[i].first, kCodesNotShown[i].last);
    EXPECT_GT(kCodesNotShown[i].first, kCodesNotShown[i - 1].last) << i;
  }
}

TEST(Printable, LettersOfAllScriptsAreShown) {
  for (const char* const text : {"plain ~", "G\xc3\xb6ttingen", "\xe6\x9d\xb1\xe4\xba\xac", "\xd0\x96",
                                 "\xf0\x9f\x8e\xb2", "\xe2\x82\xac \xe2\x80\x93 \xe2\x80\xa6 \xef\xbf\xbd"})
    EXPECT_EQ(shown(text), text);
}

TEST(Printable, WhatSteersOrHidesIsNotShown) {
  for (const std::uint32_t code : {0x0u,    0x1bu,   0x7fu,    0x80u,    0x9bu,    0xadu,    0x61cu,  0x200bu,
                                   0x200eu, 0x2028u, 0x2029u,  0x202eu,  0x2060u,  0x2066u,  0x2069u, 0xfeffu,
                                   0xfff9u, 0xffffu, 0x1d173u, 0xe0001u, 0xe007fu, 0x10ffffu})
    EXPECT_FALSE(is_shown(code)) << code;
}

TEST(Printable, NoHostileNameComesThrough) {
  for (const char* const name : test::kHostileNames) {
    const std::string text = shown(name);
    EXPECT_EQ(shown(text.c_str()), text) << "what was made printable stays";
    for (std::size_t at = 0; at < text.size();) {
      const Character character = first_character(text.c_str() + at);
      EXPECT_TRUE(character.may_be_shown) << name;
      at += character.bytes;
    }
  }
}

TEST(Printable, IsCutBetweenCharacters) {
  EXPECT_EQ(shown("\xc3\xa4\xc3\xb6", 3), "\xc3\xa4");
  EXPECT_EQ(shown("a\xff\xc3", 9), "a??");
}

std::string pattern_in(std::string_view line) {
  std::string_view pattern = "untouched";
  static_cast<void>(read_leak_line(line, &pattern));
  return std::string(pattern);
}

TEST(LeakPattern, IsFoundAnywhereUnlessItIsBound) {
  EXPECT_TRUE(is_leak_match("build", "app::build(int)"));
  EXPECT_TRUE(is_leak_match("app*int", "app::build(int)"));
  EXPECT_TRUE(is_leak_match("^app", "app::build(int)"));
  EXPECT_FALSE(is_leak_match("^build", "app::build(int)"));
  EXPECT_TRUE(is_leak_match("(int)$", "app::build(int)"));
  EXPECT_FALSE(is_leak_match("build$", "app::build(int)"));
  EXPECT_TRUE(is_leak_match("^a*)$", "app::build(int)"));
  EXPECT_FALSE(is_leak_match("^a$", "aa"));
  EXPECT_TRUE(is_leak_match("ab$", "abab"));
  EXPECT_TRUE(is_leak_match("aab", "aaab"));
  EXPECT_TRUE(is_leak_match("a*$", "xa"));
}

TEST(LeakPattern, ManyStarsEndSoon) {
  std::string pattern;
  for (int i = 0; i < 1000; ++i) pattern += "a*";
  EXPECT_FALSE(is_leak_match("^" + pattern + "b$", std::string(4000, 'a')));
}

TEST(LeakPattern, IsNotFoundInNothing) {
  EXPECT_FALSE(is_leak_match("x", ""));
  EXPECT_FALSE(is_leak_match("", "x"));
  EXPECT_FALSE(is_leak_match("x*", ""));
}

TEST(LeakLine, HasAPatternBehindItsType) {
  EXPECT_EQ(pattern_in("leak:build"), "build");
  EXPECT_EQ(pattern_in("leak:  ^main$ "), "^main$");
  EXPECT_EQ(pattern_in("race:build"), "untouched");
}

TEST(LeakLine, IsToldFromCommentsAndMistakes) {
  std::string_view pattern;
  EXPECT_EQ(read_leak_line("", &pattern), LeakLine::kComment);
  EXPECT_EQ(read_leak_line("# leak:a", &pattern), LeakLine::kComment);
  EXPECT_EQ(read_leak_line("race:a", &pattern), LeakLine::kNone);
  EXPECT_EQ(read_leak_line("leak:", &pattern), LeakLine::kOfAll);
  EXPECT_EQ(read_leak_line("leak:^*$", &pattern), LeakLine::kOfAll);
  EXPECT_EQ(read_leak_line("leak:" + std::string(5000, 'a'), &pattern), LeakLine::kTooLong);
}

TEST(MappedDevice, IsNoMemory) {
  EXPECT_TRUE(is_mapped_device("/dev/dri/card0"));
  EXPECT_FALSE(is_mapped_device("/dev/shm/queue"));
  EXPECT_FALSE(is_mapped_device("/dev/zero (deleted)"));
  EXPECT_FALSE(is_mapped_device("/srv/dev/null"));
}

}  // namespace
}  // namespace tarn::internal

namespace tarn::internal::utf8 {
namespace {

// The shortest text for each code point, as the standard's table has it.
std::string encode(std::uint32_t code) {
  const auto tail = [&](unsigned shift) { return static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xc0 | code >> 6), tail(0)};
  if (code < 0x10000) return {static_cast<char>(0xe0 | code >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xf0 | code >> 18), tail(12), tail(6), tail(0)};
}

TEST(Utf8, TakesEveryCharacterWhole) {
  for (std::uint32_t code = 1; code <= 0x10ffff; ++code) {
    const std::string text = encode(code);
    const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
    ASSERT_EQ(character_bytes(text.c_str()), is_surrogate ? 0 : text.size()) << code;
  }
}

TEST(Utf8, RefusesWhatIsTooLongTooLargeOrCutShort) {
  for (const char* text :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xed\xa0\x80",
        "\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xc3",
        "\xe2\x82", "\xf0\x9f\x98", "\xc3(", "\xe2\x82("})
    EXPECT_EQ(character_bytes(text), 0u) << text;
}

}  // namespace
}  // namespace tarn::internal::utf8
