#include "system/files/output_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "system/files/files.h"

namespace tarn::tool {
namespace fs = std::filesystem;
namespace {

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

}  // namespace
}  // namespace tarn::tool
