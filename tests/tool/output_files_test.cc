#include "system/files/output_files.h"

#include <filesystem>

#include "support/prelude.h"
#include "system/files/environment.h"
#include "system/files/files.h"
#include "system/runs/captured_output.h"

namespace tarn::tool {
namespace {

namespace fs = std::filesystem;

TEST(OutputFiles, ANameThatTheToolHasChosenNeverLeadsElsewhere) {
  const TemporaryDirectory directory;
  const fs::path precious = directory.path() / "precious", chosen = directory.path() / "calls.4711.trace";
  std::ofstream(precious) << "precious";
  fs::create_symlink(precious, chosen);
  make_output(chosen);
  write_file(chosen, "calls");
  EXPECT_EQ(read_file(precious), "precious");
  EXPECT_FALSE(fs::is_symlink(chosen));
  EXPECT_EQ(read_file(chosen), "calls");
}

TEST(OutputFiles, ANameOfTheCallerIsFollowed) {
  const TemporaryDirectory directory;
  const fs::path file = directory.path() / "file", link = directory.path() / "link";
  std::ofstream(file) << "what was there before";
  fs::create_symlink(file, link);
  open_output(link);
  EXPECT_EQ(read_file(file), "what was there before") << "until there is something to write";
  write_file(link, "new");
  EXPECT_EQ(read_file(file), "new");
}

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

using FolderEntries = std::vector<std::string>;

TEST(Environment, SettingReplacesAndRemovingForgets) {
  Environment environment(FolderEntries{"A=1", "B=2"});
  environment.set("A", "3");
  EXPECT_EQ(environment.get("A"), "3");
  environment.remove("B");
  EXPECT_EQ(environment.entries(), FolderEntries{"A=3"});
}

TEST(Environment, ANameIsNotTheBeginningOfAnother) {
  const Environment environment(FolderEntries{"PATHS=x"});
  EXPECT_EQ(environment.get("PATH"), "");
}

TEST(Environment, ALibraryIsPreloadedBeforeThoseOfTheUser) {
  Environment environment(FolderEntries{"LD_PRELOAD=/a.so"});
  environment.preload("/tarn.so");
  EXPECT_EQ(environment.get("LD_PRELOAD"), "/tarn.so:/a.so");
}

}  // namespace
}  // namespace tarn::tool
