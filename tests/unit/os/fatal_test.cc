#include "os/fatal.h"

#include "os/checker.h"
#include "os/syscall.h"
#include "support/child.h"
#include "support/prelude.h"
#include "support/sanitizer.h"

namespace tarn::internal::os {
namespace {

int stop_with(const char* what, const void* address) { fatal(what, address); }

TEST(Fatal, WritesOneLineWithTheAddressAndAborts) {
  const test::ChildResult result =
      test::run_in_child([] { return stop_with("double free", reinterpret_cast<void*>(0x7f0012345678)); });
  EXPECT_EQ(result.signal, SIGABRT);
  EXPECT_TRUE(result.error.starts_with("tarn: double free: 0x7f0012345678\n  by thread ")) << result.error;
}

TEST(Fatal, WithoutAnAddressNamesOnlyWhatHappened) {
  const test::ChildResult result = test::run_in_child([] { return stop_with("something", nullptr); });
  EXPECT_EQ(result.signal, SIGABRT);
  EXPECT_TRUE(result.error.starts_with("tarn: something\n  by thread ")) << result.error;
}

TEST(Fatal, TellsTheBlockTheThreadAndTheStack) {
  const test::ChildResult result = test::run_in_child([] {
    fatal("double free", reinterpret_cast<void*>(0x7f0012345678), 4'000);
    return 0;
  });
  EXPECT_NE(result.error.find("\n  a block of 4,000 bytes; by thread "), std::string::npos) << result.error;
  EXPECT_NE(result.error.find("unit+0x"), std::string::npos) << result.error;
}

TEST(Check, StopsWhenTheConditionIsFalse) {
  const test::ChildResult result = test::run_in_child([] {
    TARN_CHECK(1 + 1 == 2);
    TARN_CHECK(1 + 1 == 3);
    return 0;
  });
  EXPECT_EQ(result.signal, SIGABRT);
  EXPECT_TRUE(result.error.starts_with("tarn: internal check failed: 1 + 1 == 3\n")) << result.error;
}

alignas(64) char memory[128];

TEST(Checker, MarksMemoryThatNobodyMayTouch) {
  poison(memory, sizeof memory);
  const test::ChildResult result = test::run_in_child([] {
    char* volatile hidden = memory + 64;  // a compiler knows that this lies in the array, and checks nothing
    *hidden = 1;
    return 0;
  });
  EXPECT_EQ(result.is_success(), !test::kAddressSanitizer) << result.describe();
  unpoison(memory, sizeof memory);
  std::memset(memory, 0, sizeof memory);
}

TEST(Checker, ABlockOfAPoolMayBeTouchedWhileItIsLive) {
  begin_checked_pool(memory);
  poison(memory, sizeof memory);
  note_pool_allocation(memory, memory, 64);
  std::memset(memory, 1, 64);
  note_pool_free(memory, memory);
  end_checked_pool(memory);
  unpoison(memory, sizeof memory);
  std::memset(memory, 0, sizeof memory);
}

TEST(Checker, OutsideOfACheckerNothingChanges) {
  if (test::kAddressSanitizer) GTEST_SKIP() << "this is one";
  std::memset(memory, 7, sizeof memory);
  poison(memory, sizeof memory);
  note_pool_resize(memory, memory, 32);
  for (const char byte : memory) EXPECT_EQ(byte, 7);
}

TEST(Syscall, AnswersWithTheKernelsNumberAndLeavesErrnoAlone) {
  errno = 0;
  EXPECT_EQ(syscall6(SYS_getpid), getpid());
  EXPECT_EQ(syscall6(SYS_close, -1), -EBADF);
  EXPECT_EQ(errno, 0);
}

TEST(Syscall, PassesSixArgumentsInTheirOrder) {
  constexpr long kPage = 4096;
  const long start = syscall6(SYS_mmap, 0, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_GT(start, 0);
  *reinterpret_cast<char*>(start) = 1;
  EXPECT_EQ(syscall6(SYS_mmap, start, kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 1), -EINVAL)
      << "the sixth, an offset, is no multiple of a page";
  EXPECT_EQ(syscall6(SYS_munmap, start, kPage), 0);
}

}  // namespace
}  // namespace tarn::internal::os
