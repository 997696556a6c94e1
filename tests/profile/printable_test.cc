#include "profile/printable.h"

#include <gtest/gtest.h>

#include <random>

#include "profile/amount_text.h"

namespace tarn::profile {
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

TEST(Cuts, KeepTheColumnsThatAreAskedFor) {
  EXPECT_EQ(with_end_cut("abcdef", 4), "abc…");
  EXPECT_EQ(with_start_cut("abcdef", 4), "…def");
  EXPECT_EQ(with_end_cut("äöüß", 3), "äö…");
  EXPECT_EQ(with_start_cut("äöüß", 3), "…üß");
  EXPECT_EQ(with_end_cut("abc", 3), "abc");
  EXPECT_EQ(with_end_cut("abc", 0), "");
}

TEST(Amounts, AreWrittenWithThreeDigits) {
  EXPECT_EQ(bytes_text(512), "512 B");
  EXPECT_EQ(bytes_text(1.5 * 1024 * 1024), "1.50 MiB");
  EXPECT_EQ(change_text(2048), "+2.00 KiB");
  EXPECT_EQ(change_text(-12), "-12 B");
  EXPECT_EQ(count_text(1234567), "1,234,567");
  EXPECT_EQ(count_text(-123), "-123");
  EXPECT_EQ(counted(1, "block"), "1 block");
  EXPECT_EQ(share_text(1, 0), "0.0 %");
}

}  // namespace
}  // namespace tarn::profile
