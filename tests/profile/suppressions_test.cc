#include "profile/suppressions.h"

#include <gtest/gtest.h>

#include <random>

#include "hand_made_profile.h"

namespace tarn::profile {
namespace {

std::string error_of(const std::string& text) {
  try {
    Suppressions::parse(text, "known.txt");
  } catch (const SuppressionError& error) {
    return error.what();
  }
  return "";
}

TEST(Suppressions, CommentsAndEmptyLinesAreSkipped) {
  const Suppressions parsed = Suppressions::parse("# known\n\n  leak:build \r\nleak:^main$", "known.txt");
  ASSERT_EQ(parsed.all().size(), 2u);
  EXPECT_EQ(parsed.all()[0].pattern, "build");
  EXPECT_EQ(parsed.all()[1].pattern, "^main$");
}

TEST(Suppressions, ABadLineIsOneErrorThatNamesIt) {
  EXPECT_EQ(error_of("leak:a\n# b\nrace:c\n"),
            "known.txt:3: \"race:c\" is no suppression: write leak:PATTERN, or # before a comment");
  EXPECT_NE(error_of("leak:\n").find("known.txt:1: the pattern would suppress every leak"),
            std::string::npos);
  EXPECT_NE(error_of("leak:*\n").find("every leak"), std::string::npos);
  EXPECT_EQ(error_of("\033[2J").find('\033'), std::string::npos);
  EXPECT_NE(error_of("leak:" + std::string(5000, 'a')).find("longer than"), std::string::npos);
}

TEST(Suppressions, AFileThatIsNotThereIsToldByItsName) {
  EXPECT_THROW(
      {
        try {
          Suppressions::read("/nowhere/known.txt");
        } catch (const SuppressionError& error) {
          EXPECT_TRUE(std::string(error.what()).starts_with("/nowhere/known.txt: cannot be read"))
              << error.what();
          throw;
        }
      },
      SuppressionError);
}

TEST(Suppressions, AreCountedByTheFirstThatMatchesAndMayBeUnused) {
  HeapProfile raw =
      test::make_profile({test::make_stack({0x101, 0x2}, 2, 64), test::make_stack({0x3}, 1, 8)});
  raw.modules = {{0x100, 0x200, 0, "[jit of known]", ""}};
  const NamedProfile profile = test::named(raw);
  Suppressions parsed = Suppressions::parse("leak:^0x2$\nleak:jit of\nleak:nothing\n", "known.txt");
  EXPECT_TRUE(parsed.suppress(profile.stacks()[0], profile.raw()));
  EXPECT_FALSE(parsed.suppress(profile.stacks()[1], profile.raw()));
  EXPECT_EQ(parsed.all()[0].suppressed.bytes, 64);
  EXPECT_EQ(parsed.unused(), (std::vector<std::string>{"jit of", "nothing"}));
  Suppressions by_module = Suppressions::parse("leak:jit of", "known.txt");
  EXPECT_TRUE(by_module.suppress(profile.stacks()[0], profile.raw()));
}

TEST(Suppressions, AnyBytesAreParsedOrRefused) {
  const std::string signs = "leak:*^$#\n\r \t:ab\0\xff";
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string text = i % 2 == 0 ? "leak:" : "";
    for (std::size_t left = random() % 40; left > 0; --left) text += signs[random() % signs.size()];
    const std::string error = error_of(text);
    if (error.empty()) {
      const Suppressions parsed = Suppressions::parse(text, "x");
      for (const Suppression& one : parsed.all()) EXPECT_FALSE(one.pattern.empty());
    } else {
      EXPECT_TRUE(error.starts_with("known.txt:"));
    }
  }
}

}  // namespace
}  // namespace tarn::profile
