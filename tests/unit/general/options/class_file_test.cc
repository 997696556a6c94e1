// Files that are tables and files that are none, read by the library at its start; each process is a new one.
#include "general/options/class_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "central/classes/class_table.h"
#include "support/child.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/options.h"

namespace tarn::internal {
namespace {

constexpr const char* kServes = "; the classes of 'default' serve\n";

/// The classes of a preset, with finer ones about 4 KiB in the place of those up to 2 KiB.
std::string fine_table() {
  std::string text = "# for pages of 4360 bytes\ntarn-classes 1\n";
  for (const std::uint32_t bytes : sizes_of_preset(kSizeClassPresets[0])) {
    if (bytes == 4608) text += "4160 4224 4288 4352 4416 4480 ";
    if (bytes <= 1024 || bytes > 2048) text += std::to_string(bytes) + "\n";
  }
  return text;
}

class ClassFile : public ::testing::Test {
 protected:
  ~ClassFile() override { std::remove(path_.c_str()); }

  void write(const std::string& text) { std::ofstream(path_, std::ios::binary) << text; }

  /// What a process whose first calls find this file says on standard error; body() runs with the classes.
  test::ChildResult start(const std::function<int()>& body, const std::string& file) const {
    return test::run_in_child([&] {
      setenv("TARN_CLASSES_FILE", file.c_str(), 1);
      tarn::deallocate(tarn::allocate(100));
      return body();
    });
  }
  test::ChildResult start(const std::function<int()>& body) const { return start(body, path_); }

  /// The whole line of a process that refuses this text. The table of the preset serves it then.
  std::string refusal_of(const std::string& text) {
    write(text);
    const test::ChildResult result = start([] { return serves_as_default() ? 0 : 1; });
    EXPECT_EQ(result.exit_status, 0) << text.substr(0, 100);
    return result.error;
  }

  static bool serves_as_default() {
    char file[8];
    return std::memcmp(&detail::class_of_bin, &kPresetClasses.of[0], sizeof detail::class_of_bin) == 0 &&
           std::memcmp(&bin_geometry, &kGeometry, sizeof kGeometry) == 0 &&
           tarn::option("classes_file", file) == 0 && tarn::good_size(4360) == 4608;
  }

  const std::string path_ = ::testing::TempDir() + "tarn_class_file_test." + std::to_string(getpid());
};

TEST_F(ClassFile, ItsClassesServeAllKindsOfCalls) {
  write(fine_table());
  const test::ChildResult result = start([] {
    if (tarn::good_size(4360) != 4416 || tarn::good_size(1025) != 2304 || tarn::good_size(100) != 112)
      return 1;
    std::vector<void*> blocks;
    for (std::size_t size = 1; size < 20000; size += 7) {
      void* const block = tarn::allocate(size);
      if (tarn::usable_size(block) < size || tarn::usable_size(block) > 2 * size + 2048) return 2;
      std::memset(block, 1, tarn::usable_size(block));
      blocks.push_back(block);
      blocks.push_back(tarn::allocate(size, 64));
      if (reinterpret_cast<std::uintptr_t>(blocks.back()) % 64 != 0) return 3;
      std::memset(blocks.back(), 2, size);
    }
    void* batch[50];
    if (tarn::allocate_batch(4360, 50, batch) != 50 || tarn::usable_size(batch[49]) != 4416) return 4;
    tarn::deallocate_batch(batch, 50);
    void* moved = tarn::reallocate(tarn::allocate(4360), 4400);
    if (tarn::usable_size(moved) != 4416) return 5;
    moved = tarn::reallocate(moved, 1100);
    tarn::deallocate(moved);
    for (void* const block : blocks) tarn::deallocate(block);
    return 0;
  });
  EXPECT_EQ(result.exit_status, 0) << result.describe();
  EXPECT_EQ(result.error, "");
}

TEST_F(ClassFile, ItsClassesServeHeaps) {
  write(fine_table());
  const test::ChildResult result = start([] {
    tarn::Heap heap;
    std::vector<void*> blocks;
    for (int round = 0; round < 2; ++round) {
      for (std::size_t size = 1; size < 40000; size += 13) {
        void* const block = heap.allocate(size);
        if (heap.usable_size(block) < size) return 1;
        std::memset(block, 3, size);
        blocks.push_back(block);
      }
      for (void* const block : blocks) heap.deallocate(block);
      blocks.clear();
    }
    return heap.use().live_bytes == 0 ? 0 : 2;
  });
  EXPECT_EQ(result.exit_status, 0) << result.describe();
}

TEST_F(ClassFile, TheOptionTellsWhichFileServes) {
  write(fine_table());
  const test::ChildResult result = start([&] {
    char file[512];
    tarn::option("classes_file", file);
    return file == path_ ? 0 : 1;
  });
  EXPECT_EQ(result.exit_status, 0) << result.describe();
}

TEST_F(ClassFile, ItCannotChangeOnceClassesAreInUse) {
  write(fine_table());
  const test::ChildResult result = test::run_in_child([&] {
    tarn::deallocate(tarn::allocate(100));
    if (tarn::set_option("classes_file", path_.c_str()) != OptionResult::kTooLate) return 1;
    return serves_as_default() ? 0 : 2;
  });
  EXPECT_EQ(result.exit_status, 0) << result.describe();
}

TEST_F(ClassFile, AProgramNamesItBeforeItsFirstBlock) {
  write(fine_table());
  const test::ChildResult result = test::run_in_child([&] {
    if (tarn::set_option("classes_file", path_.c_str()) != OptionResult::kSet) return 1;
    return tarn::good_size(4360) == 4416 ? 0 : 2;
  });
  EXPECT_EQ(result.exit_status, 0) << result.describe();
}

TEST_F(ClassFile, WhereItIsRefusedThePresetServesThatTheProgramHasChosen) {
  write("16 32");
  const test::ChildResult result = test::run_in_child([&] {
    setenv("TARN_CLASSES_FILE", path_.c_str(), 1);
    setenv("TARN_CLASSES", "stepped", 1);
    return tarn::good_size(33) == 64 ? 0 : 1;
  });
  EXPECT_EQ(result.exit_status, 0) << result.describe();
  EXPECT_EQ(
      result.error,
      "tarn: " + path_ + ":1: the first line must be 'tarn-classes 1'; the classes of 'stepped' serve\n");
}

TEST_F(ClassFile, AMissingFileAndADirectoryCannotBeRead) {
  for (const std::string& file : {path_ + ".missing", ::testing::TempDir()}) {
    const test::ChildResult result = start([] { return serves_as_default() ? 0 : 1; }, file);
    EXPECT_EQ(result.exit_status, 0) << result.describe();
    EXPECT_EQ(result.error, "tarn: " + file + ": cannot be read" + kServes);
  }
}

TEST_F(ClassFile, AFileWithoutEndIsRefusedByItsSize) {
  const test::ChildResult result = start([] { return serves_as_default() ? 0 : 1; }, "/dev/zero");
  EXPECT_EQ(result.exit_status, 0) << result.describe();
  EXPECT_EQ(result.error,
            "tarn: /dev/zero: is larger than 8 KiB, which no table needs; the classes of 'default' serve\n");
}

TEST_F(ClassFile, ATableOfTheLargestSizeIsReadAndOneByteMoreIsRefused) {
  std::string text = fine_table();
  text.resize(kLargestClassFile, ' ');
  EXPECT_EQ((write(text), start([] { return 0; }).error), "");
  EXPECT_NE(refusal_of(text + " ").find("larger than 8 KiB"), std::string::npos);
}

TEST_F(ClassFile, EachBadFileCostsOneLineThatNamesTheLineAndWhatServes) {
  const std::string start_of_line = "tarn: " + path_ + ":", heading = "tarn-classes 1\n";
  const auto refuses = [&](const std::string& text, const std::string& line) {
    EXPECT_EQ(refusal_of(text), start_of_line + line + kServes);
  };
  refuses("", "1: the first line must be 'tarn-classes 1'");
  refuses(std::string("\x7f"
                      "ELF\0\0\0\1",
                      8),
          "1: the first line must be 'tarn-classes 1'");
  refuses("tarn-classes 7\n", "1: version '7' is none that this library reads, which is 1");
  refuses(heading + "16\n32\n32768\n26214", "5: 26214 is no class: above 16384 the next is 26624");
  refuses(heading + "16\r\n40\r\n", "3: 40 is no multiple of 16, as sizes but 8 are");
  refuses(heading + "64\n48\n", "3: 48 follows 64, but sizes ascend");
  refuses(heading + "16 32768\n", "3: 262144 is missing, which each table has");
  refuses(heading + "16 262144\n", "2: 32768 is missing, which each table has");
}

TEST_F(ClassFile, AFileOfAnotherSystemsLineEndsIsATable) {
  std::string text;
  for (const char character : fine_table()) text += character == '\n' ? "\r\n" : std::string(1, character);
  write(text);
  const test::ChildResult result = start([] { return tarn::good_size(4360) == 4416 ? 0 : 1; });
  EXPECT_EQ(result.exit_status, 0) << result.describe();
  EXPECT_EQ(result.error, "");
}

}  // namespace
}  // namespace tarn::internal
