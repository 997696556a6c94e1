#include "os/process/process.h"

#include "support/child.h"
#include "support/prelude.h"
#include "support/process_memory.h"
#include "support/sizes.h"

namespace tarn::internal::os {
namespace {

std::string contents_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(Process, FindsAVariableByItsWholeName) {
  setenv("TARN_TEST_VARIABLE", "value", 1);
  setenv("TARN_TEST_EMPTY", "", 1);
  EXPECT_STREQ(environment("TARN_TEST_VARIABLE"), "value");
  EXPECT_STREQ(environment("TARN_TEST_EMPTY"), "");
  EXPECT_EQ(environment("TARN_TEST_VARIABL"), nullptr);
  EXPECT_EQ(environment("TARN_TEST_VARIABLE_"), nullptr);
}

TEST(Process, LetsOthersTraceItWhereYamaIsInTheWay) {
  errno = 5;
  const int error = let_any_process_trace();
  EXPECT_EQ(errno, 5);
  EXPECT_EQ(error, access("/proc/sys/kernel/yama/ptrace_scope", F_OK) == 0 ? 0 : EINVAL);
}

TEST(Process, ReadsVariablesBeforeLibcHasSetThemUp) {
  const test::ChildResult result = test::run_in_child([] {
    const char* const home = getenv("PATH");
    environ = nullptr;
    const char* const early = environment("PATH");
    return home != nullptr && early != nullptr && std::strcmp(home, early) == 0 &&
                   environment("PAT") == nullptr
               ? 0
               : 1;
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
}

TEST(Process, ReadsAFileUpToTheCapacity) {
  const std::string expected = contents_of("/proc/self/cmdline");
  char text[4096];
  EXPECT_EQ(read_file("/proc/self/cmdline", text, sizeof text), static_cast<long>(expected.size()));
  EXPECT_EQ(std::memcmp(text, expected.data(), expected.size()), 0);
  EXPECT_EQ(read_file("/proc/self/cmdline", text, 3), 3);
  EXPECT_EQ(read_file("/nonexistent/file", text, sizeof text), -1);
  EXPECT_EQ(read_file("/", text, sizeof text), -1) << "it can be opened, but not read";
}

TEST(Process, WritesAFileThatOnlyItsOwnerReads) {
  const std::string path = ::testing::TempDir() + "tarn_process_test." + std::to_string(getpid());
  const int descriptor = create_file(path.c_str());
  ASSERT_GE(descriptor, 0);
  EXPECT_EQ(write_all(descriptor, "some text", 9), 0);
  EXPECT_EQ(write_all(-1, "some text", 9), EBADF);
  close_file(descriptor);
  EXPECT_EQ(contents_of(path), "some text");
  EXPECT_EQ(create_file("/nonexistent/file") >= 0, false);
  std::remove(path.c_str());
}

TEST(Process, DoesNotWriteThroughASymbolicLink) {
  const std::string path = ::testing::TempDir() + "tarn_process_link." + std::to_string(getpid());
  ASSERT_EQ(symlink("/dev/null", path.c_str()), 0);
  EXPECT_LT(create_file(path.c_str()), 0);
  std::remove(path.c_str());
}

TEST(Process, KnowsItselfAndItsMemory) {
  EXPECT_EQ(process_id(), static_cast<std::uint32_t>(getpid()));
  EXPECT_EQ(page_bytes(), static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
  const std::size_t resident = test::resident_bytes();
  EXPECT_NEAR(static_cast<double>(resident_bytes()), static_cast<double>(resident), 1e6);
  EXPECT_FALSE(is_privileged());
}

TEST(Process, ClockGoesForward) {
  const std::uint64_t before = clock_ms();
  usleep(20000);
  EXPECT_GE(clock_ms(), before + 10);
}

}  // namespace
}  // namespace tarn::internal::os
