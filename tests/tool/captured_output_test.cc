#include "system/runs/captured_output.h"

#include <gtest/gtest.h>

namespace tarn::tool {
namespace {

OutputDigest digest_of(std::string_view text) {
  OutputDigest digest;
  digest.append(text);
  return digest;
}

TEST(OutputDigest, ThePiecesItComesInDoNotMatter) {
  OutputDigest pieces;
  pieces.append("he");
  pieces.append("llo");
  EXPECT_TRUE(pieces == digest_of("hello"));
  EXPECT_EQ(pieces.first_difference(digest_of("hello")), std::nullopt);
}

TEST(OutputDigest, TheFirstDifferentByteIsNamed) {
  const auto difference = digest_of("hello").first_difference(digest_of("helps"));
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->offset, 3u);
  EXPECT_TRUE(difference->is_exact);
}

TEST(OutputDigest, AShorterOutputDiffersWhereItEnds) {
  EXPECT_EQ(digest_of("he").first_difference(digest_of("hello"))->offset, 2u);
  EXPECT_EQ(digest_of("").first_difference(digest_of("hello"))->offset, 0u);
}

TEST(OutputDigest, ADifferenceBehindTheKeptBytesIsSeenButNotPlaced) {
  const std::string shared(OutputDigest::kKeptBytes, 'x');
  const auto difference = digest_of(shared + "a").first_difference(digest_of(shared + "b"));
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->offset, OutputDigest::kKeptBytes);
  EXPECT_FALSE(difference->is_exact);
}

TEST(ErrorText, TheLastLinesAreKeptHoweverMuchComes) {
  ErrorText text;
  for (int i = 0; i < 10000; ++i) text.append("line " + std::to_string(i) + "\n");
  EXPECT_EQ(text.last_lines(2), (std::vector<std::string>{"line 9998", "line 9999"}));
  EXPECT_TRUE(text.beginning().starts_with("line 0\n"));
  EXPECT_LE(text.beginning().size(), ErrorText::kKeptBytes);
}

TEST(ErrorText, ControlCharactersDoNotReachTheTerminal) {
  ErrorText text;
  text.append("\033[2Jboo\n\n");
  EXPECT_EQ(text.last_lines(5), (std::vector<std::string>{"?[2Jboo"}));
}

}  // namespace
}  // namespace tarn::tool
