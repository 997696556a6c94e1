#include "base/printable.h"

#include <gtest/gtest.h>

#include <iterator>
#include <string>

#include "base/text.h"
#include "support/hostile_names.h"

namespace tarn::internal {
namespace {

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

}  // namespace
}  // namespace tarn::internal
