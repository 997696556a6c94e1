#include "observer/text/printable.h"

#include "observer/text/json_text.h"
#include "support/hostile_names.h"
#include "support/prelude.h"

namespace tarn::observer {
namespace {

TEST(Printable, TextStaysAsItIs) {
  EXPECT_EQ(printable("app::build(int) – Größe"), "app::build(int) – Größe");
}

TEST(Printable, WhatATerminalObeysBecomesAQuestionMark) {
  EXPECT_EQ(printable("a\033[31mb\n\r\tc\x7f"), "a?[31mb???c?");
  EXPECT_EQ(printable("a\xc2\x9b"
                      "31m"),
            "a?31m");
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b"),
            "a?b");
}

TEST(Printable, BytesThatAreNoTextBecomeQuestionMarks) { EXPECT_EQ(printable("a\xff\xc3"), "a??"); }

TEST(Printable, LongTextIsCutBetweenCharacters) {
  EXPECT_EQ(printable("ääää", 5), "ää…");
  EXPECT_EQ(printable("abc", 3), "abc");
}

TEST(Printable, AnyBytesBecomeTextWithoutControls) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes(random() % 64, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    const std::string shown = printable(bytes, 40);
    EXPECT_LE(shown.size(), 43u);
    for (const char c : shown) EXPECT_TRUE(static_cast<unsigned char>(c) >= ' ' && c != '\x7f');
    EXPECT_EQ(printable(shown, 100), shown);
  }
}

TEST(Printable, LinesStayApart) { EXPECT_EQ(printable_lines("a\033\nb\n"), "a?\nb\n"); }

TEST(JsonText, HasNoHostileNameInStringsAndKeys) {
  for (const char* const name : test::kHostileNames) {
    const std::string text = json_text({{name, {name, 1}}});
    EXPECT_EQ(printable_lines(text), text) << text;
    const auto json = nlohmann::ordered_json::parse(text);
    EXPECT_EQ(json.begin().key(), printable(name));
    EXPECT_EQ(json.begin().value()[0], printable_lines(name));
    EXPECT_EQ(json_in_script({name}).find('<'), std::string::npos);
  }
}

TEST(Cuts, KeepTheColumnsThatAreAskedFor) {
  EXPECT_EQ(with_end_cut("abcdef", 4), "abc…");
  EXPECT_EQ(with_start_cut("abcdef", 4), "…def");
  EXPECT_EQ(with_end_cut("äöüß", 3), "äö…");
  EXPECT_EQ(with_start_cut("äöüß", 3), "…üß");
  EXPECT_EQ(with_end_cut("abc", 3), "abc");
  EXPECT_EQ(with_end_cut("abc", 0), "");
}

}  // namespace
}  // namespace tarn::observer
