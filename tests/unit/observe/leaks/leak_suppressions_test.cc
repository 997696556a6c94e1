#include "observe/leaks/leak_suppressions.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace tarn::internal {
namespace {

std::string pattern_of(const LeakSuppressions::Known* known) {
  return known == nullptr ? "none" : std::string(known->pattern);
}

TEST(LeakSuppressions, AreFoundInFilesAndFunctions) {
  LeakSuppressions known;
  known.parse("# known\nleak:libold.so\n\nleak:^lose_*_quest$\r\n", "known.txt");
  EXPECT_EQ(pattern_of(known.find_in("/usr/lib/libold.so.3", nullptr)), "libold.so");
  EXPECT_EQ(pattern_of(known.find_in("/bin/server", "lose_a_quest")), "^lose_*_quest$");
  EXPECT_EQ(pattern_of(known.find_in("/bin/server", "lose_a_questline")), "none");
  EXPECT_EQ(pattern_of(known.find_in(nullptr, nullptr)), "none");
}

TEST(LeakSuppressions, LinesThatAreNoneCostALineEach) {
  LeakSuppressions known;
  testing::internal::CaptureStderr();
  known.parse("race:a\nleak:*\nleak:good", "known.txt");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "tarn: known.txt:1: no suppression: write leak:PATTERN, or # before a comment\n"
            "tarn: known.txt:2: the pattern would suppress every leak\n");
  EXPECT_EQ(pattern_of(known.find_in("good", nullptr)), "good");
}

TEST(LeakSuppressions, AFileThatIsNotThereSuppressesNothing) {
  LeakSuppressions known;
  testing::internal::CaptureStderr();
  known.read("/nowhere/known.txt");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "tarn: /nowhere/known.txt: cannot be read; no leak is suppressed\n");
  EXPECT_FALSE(known.has_any());
  known.read("");
  EXPECT_FALSE(known.has_any());
}

char known_block;

TEST(LeakSuppressions, AStackIsKnownByAnyOfItsFrames) {
  LoadedModule storage[64];
  LoadedModules modules(storage, 64);
  modules.note_all();
  samples.add({&known_block, 1, 1});  // of this stack, which the C library has begun
  std::uint32_t number = 0;
  samples.for_each([&](const Sample& sample) { number = sample.stack; });
  LeakSuppressions known;
  known.parse("leak:libnothere\nleak:libc.so\nleak:libc\n", "known.txt");
  EXPECT_EQ(pattern_of(known.find(number, modules)), "libc.so");
}

TEST(ExportedFunction, HasItsName) {
  EXPECT_STREQ(exported_function(reinterpret_cast<std::uint64_t>(&std::abort)), "abort");
  EXPECT_EQ(exported_function(0x10), nullptr);
}

}  // namespace
}  // namespace tarn::internal
