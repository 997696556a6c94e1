#include "os/syscall.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace tarn::internal::os {
namespace {

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
