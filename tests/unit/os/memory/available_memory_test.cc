#include "os/memory/available_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>

#include "os/process/process_status.h"

namespace tarn::internal::os {
namespace {

TEST(AvailableMemory, ANumberStandsBehindItsNameWhereALineBegins) {
  constexpr const char* kText = "MemTotal:  100 kB\nXMemFree: 5 kB\nMemFree:\t42 kB\nlast: x\n";
  EXPECT_EQ(number_behind("MemTotal:", kText), 100u);
  EXPECT_EQ(number_behind("MemFree:", kText), 42u);
  EXPECT_EQ(number_behind("last:", kText), SIZE_MAX);
  EXPECT_EQ(number_behind("none:", kText), SIZE_MAX);
  EXPECT_EQ(number_behind("", "max\n"), SIZE_MAX);
  EXPECT_EQ(number_behind("", "4096\n"), 4096u);
}

TEST(AvailableMemory, IsSomeAndNoMoreThanTheLimitOfAddresses) {
  const std::size_t before = available_bytes();
  EXPECT_GT(before, std::size_t{1} << 20);
  EXPECT_LT(before, std::size_t{1} << 44);
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_DATA, &limit), 0);
  const rlimit lower{std::size_t{1} << 30, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_DATA, &lower), 0);
  const std::size_t limited = available_bytes();
  ASSERT_EQ(setrlimit(RLIMIT_DATA, &limit), 0) << "a sanitizer may hold more, and ask for more to tell";
  EXPECT_LE(limited, std::size_t{1} << 30);
}

}  // namespace
}  // namespace tarn::internal::os
