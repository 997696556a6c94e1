#include "commands/classes/conf_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "scratch_directory.h"
#include "system/files/usage_error.h"

namespace tarn::tool {
namespace {

class ConfFile : public ::testing::Test {
 protected:
  std::string write(const std::string& text) { return scratch_.add_file("a.conf", text); }
  std::string complaint_of(const std::string& text) {
    try {
      checked_conf_file(write(text));
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }

  ScratchDirectory scratch_;
};

TEST_F(ConfFile, WhatTheLibraryTakesIsFine) {
  EXPECT_EQ(complaint_of("# a comment\nhuge_pages:never\ndecay=100ms, thread_cache:64K\n\n"), "");
  EXPECT_EQ(complaint_of(""), "");
}

TEST_F(ConfFile, IsNamedByItsWholePath) {
  const std::string path = write("decay:0\n");
  EXPECT_EQ(checked_conf_file(std::filesystem::relative(path)), path);
}

TEST_F(ConfFile, AnUnknownKeyIsNamedWithItsLine) {
  const std::string complaint = complaint_of("# one\nhuge_pages:never\nhugepages:never\n");
  EXPECT_NE(complaint.find("a.conf:3: unknown option 'hugepages'"), std::string::npos) << complaint;
}

TEST_F(ConfFile, ABadValueIsNamedWithWhatIsTaken) {
  const std::string complaint = complaint_of("thread_cache:lots\n");
  EXPECT_NE(complaint.find("a.conf:1: thread_cache: 'lots' is not one of 64 KiB"), std::string::npos)
      << complaint;
}

TEST_F(ConfFile, AFileOfClassesMustBeOne) {
  EXPECT_NE(complaint_of("classes_file:/nowhere\n").find("/nowhere"), std::string::npos);
  EXPECT_EQ(complaint_of("classes_file:\n"), "");
}

TEST_F(ConfFile, MoreThanTheLibraryReadsIsRefused) {
  EXPECT_NE(complaint_of(std::string(8 * 1024 + 1, '\n')).find("8 KiB"), std::string::npos);
  EXPECT_EQ(complaint_of(std::string(8 * 1024, '\n')), "");
}

TEST_F(ConfFile, WhatIsNoFileIsRefused) {
  EXPECT_THROW(checked_conf_file(scratch_.path("none")), UsageError);
  EXPECT_THROW(checked_conf_file(scratch_.path()), UsageError);
}

TEST_F(ConfFile, APathThatWouldEndAPairIsNoValue) {
  EXPECT_TRUE(is_value_of_conf("/srv/my server/tarn.classes"));
  EXPECT_TRUE(is_value_of_conf("/srv/a:b=c"));
  for (const char* bad : {"/a,b", "/a#b", "/a\nb"}) EXPECT_FALSE(is_value_of_conf(bad)) << bad;
  EXPECT_TRUE(is_value_of_conf(std::string(511, 'a')));
  EXPECT_FALSE(is_value_of_conf(std::string(512, 'a'))) << "the library keeps no more";
}

}  // namespace
}  // namespace tarn::tool
