#include "observe/text_writer.h"

#include <fcntl.h>

#include "support/prelude.h"

namespace tarn::internal {
namespace {

struct Collected {
  std::string text;
  std::size_t calls = 0;

  static void take(const char* text, std::size_t bytes, void* collected) {
    static_cast<Collected*>(collected)->text.append(text, bytes);
    ++static_cast<Collected*>(collected)->calls;
  }
};

template <typename Write>
std::string written_by(Write write) {
  Collected collected;
  TextWriter text(Collected::take, &collected);
  write(text);
  text.flush();
  return collected.text;
}

std::string escaped(const char* string) {
  return written_by([&](TextWriter& text) { text.add_escaped(string); });
}

TEST(TextWriter, PassesOnTextOfAnyLengthInItsOrder) {
  Collected collected;
  std::string expected;
  {
    TextWriter text(Collected::take, &collected);
    for (std::uint64_t i = 0; i < 3000; ++i) {
      text.add_decimal(i).add(' ');
      expected += std::to_string(i) + " ";
    }
    EXPECT_LT(collected.calls, 30u) << "not one for each piece";
    text.add_decimal(UINT64_MAX);
  }
  EXPECT_EQ(collected.text, expected + "18446744073709551615") << "the end passes on what is left";
}

TEST(TextWriter, CallsNobodyForNoText) {
  Collected collected;
  { TextWriter text(Collected::take, &collected); }
  EXPECT_EQ(collected.calls, 0u);
}

TEST(TextWriter, EscapesStringsOfJsonAndLabels) {
  EXPECT_EQ(escaped("plain, caf\xc3\xa9 \xf0\x9f\x8e\xb2 {}="), "plain, caf\xc3\xa9 \xf0\x9f\x8e\xb2 {}=");
  EXPECT_EQ(escaped("say \"hi\"\\"), "say \\\"hi\\\"\\\\");
}

TEST(TextWriter, WhatMayNotBeShownBecomesAQuestionMark) {
  EXPECT_EQ(escaped("\x01\n\t\x1f\x7f"), "?????");
  EXPECT_EQ(escaped("a\xff z\xc3"), "a? z?");
}

TEST(FileSink, RemembersAFailedWrite) {
  FileSink bad(-1);
  FileSink::write("text", 4, &bad);
  EXPECT_FALSE(bad.is_good());
  EXPECT_EQ(bad.error(), EBADF);
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  FileSink good(ends[1]);
  FileSink::write("text", 4, &good);
  EXPECT_TRUE(good.is_good());
  char text[8];
  EXPECT_EQ(read(ends[0], text, sizeof text), 4);
  close(ends[0]), close(ends[1]);
}

}  // namespace
}  // namespace tarn::internal
