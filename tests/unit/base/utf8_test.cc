#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

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
