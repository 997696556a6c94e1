#include "base/leak_pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace tarn::internal {
namespace {

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

}  // namespace
}  // namespace tarn::internal
