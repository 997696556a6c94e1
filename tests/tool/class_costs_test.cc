#include "commands/class_costs.h"

#include <gtest/gtest.h>

#include "system/files.h"
#include "system/usage_error.h"

namespace tarn::tool {
namespace {

class ClassCosts : public ::testing::Test {
 protected:
  std::string file_of(const std::string& text) const {
    write_file(directory_.path() / "file", text);
    return directory_.path() / "file";
  }
  template <typename Read>
  std::string refusal(Read read, const std::string& path) const {
    try {
      read(path);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }

  TemporaryDirectory directory_;
};

TEST_F(ClassCosts, AFileThatIsNoTableIsRefusedWithItsNameAndLine) {
  const std::string path = file_of("tarn-classes 1\n16\n24\n");
  EXPECT_EQ(refusal(read_class_file, path), path + ":3: 24 is no multiple of 16, as sizes but 8 are");
  EXPECT_EQ(refusal(read_class_file, path + "x"), "'" + path + "x' cannot be read");
}

TEST_F(ClassCosts, AFileThatIsNoHistogramIsRefusedWithItsName) {
  const std::string path = file_of("16 many\n");
  EXPECT_EQ(refusal(read_histogram_file, path), path + ": line 1 is not 'size count', two numbers");
  EXPECT_EQ(refusal(read_histogram_file, path + "x"), "'" + path + "x' cannot be read");
}

TEST_F(ClassCosts, ATableThatWasWrittenIsReadAgain) {
  const internal::BlockSizes sizes = internal::sizes_of_preset(internal::kSizeClassPresets[1]);
  const internal::BlockSizes read = read_class_file(file_of(tune::text_of_table(sizes, "one\ntwo")));
  EXPECT_TRUE(std::equal(read.begin(), read.end(), sizes.begin(), sizes.end()));
}

TEST(Gain, IsAShareOfTheWasteAndOfTheHeap) {
  tune::TableCost before, after;
  before.floor = after.floor = 1000;
  before.blocks = 2000;
  after.blocks = 1500;
  EXPECT_EQ(describe_gain(before, after),
            "saves 500 B: 50.0 % of the waste above the floor, 25.0 % of the heap");
}

TEST(Gain, OfNothingIsNothing) {
  EXPECT_EQ(describe_gain({}, {}), "saves 0 B: 0.0 % of the waste above the floor, 0.0 % of the heap");
}

}  // namespace
}  // namespace tarn::tool
