// mlockall over malloc: whoever may lock its memory can, whatever addresses the allocator holds, and finds
// locked what it is given later. Preloaded it tests ours; alone, as the control, the system's.
#include <grp.h>
#include <sys/resource.h>

#include <ctime>

#include "support/child.h"
#include "support/pools.h"
#include "support/prelude.h"
#include "support/sizes.h"

namespace tarn::test {
namespace {

using Pool = PoolUnderTest;

enum class User { kRoot, kNobody };
struct As {
  User user;
  std::size_t limit;  // RLIMIT_MEMLOCK
};
constexpr As kNobody{User::kNobody, 64 * kMiB};
constexpr int kSkipped = 77;

void PrintTo(const As& as, std::ostream* out) { *out << (as.user == User::kRoot ? "Root" : "Nobody"); }

/// A line of /proc/self/status, in bytes.
std::size_t status_bytes(const char* name) {
  char line[256];
  std::size_t kilobytes = 0;
  FILE* const status = std::fopen("/proc/self/status", "r");
  while (std::fgets(line, sizeof line, status) != nullptr)
    if (std::strncmp(line, name, std::strlen(name)) == 0)
      std::sscanf(line + std::strlen(name), ": %zu", &kilobytes);
  std::fclose(status);
  return kilobytes * kKiB;
}

/// In a child that is such a user; \returns its answer, or kSkipped where it cannot become one.
template <typename Body>
ChildResult run_as(const As& as, Body body) {
  return run_in_child([&] {
    Pool::deallocate(Pool::allocate(kMiB));
    const rlimit limit{as.limit, as.limit};
    if (as.user == User::kRoot && geteuid() != 0) return kSkipped;
    if (setrlimit(RLIMIT_MEMLOCK, &limit) != 0) return kSkipped;
    if (as.user == User::kNobody && geteuid() == 0 && (setgroups(0, nullptr) != 0 || setuid(65534) != 0))
      return kSkipped;
    return body();
  });
}

void expect_success(const ChildResult& result) {
  if (result.exit_status == kSkipped) GTEST_SKIP() << "not with these privileges";
  EXPECT_TRUE(result.is_success()) << result.describe();
}

/// \why not of the clock: other processes may have the processor
double processor_milliseconds() {
  timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) * 1e-6;
}

class LockedMemory : public ::testing::TestWithParam<As> {};

TEST_P(LockedMemory, IsHadWithoutBackingWhatNobodyUses) {
  expect_success(run_as(GetParam(), [] {
    const std::size_t tables = status_bytes("VmPTE"), resident = status_bytes("VmRSS");
    const double start = processor_milliseconds();
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) return 1;
    if (processor_milliseconds() - start > 100) return 2;
    if (status_bytes("VmLck") == 0) return 3;
    if (status_bytes("VmPTE") > tables + kMiB) return 4;
    return status_bytes("VmRSS") > resident + 32 * kMiB ? 5 : 0;
  }));
}

TEST_P(LockedMemory, GrowsWithTheHeap) {
  expect_success(run_as(GetParam(), [] {
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) return 1;
    const std::size_t before = status_bytes("VmLck");
    void* const block = Pool::allocate(12 * kMiB);
    if (block == nullptr) return 2;
    if (status_bytes("VmLck") < before + 12 * kMiB) return 3;
    unsigned char backed[12 * kMiB / 4096];
    void* const page =
        reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(block) & ~std::uintptr_t{4095});
    if (mincore(page, sizeof backed * 4096, backed) != 0) return 4;
    for (const unsigned char is_backed : backed)
      if ((is_backed & 1) == 0) return 5;
    return 0;
  }));
}

TEST_P(LockedMemory, BacksOnlyWhatIsTouchedWhenAskedFor) {
  expect_success(run_as(GetParam(), [] {
    if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) != 0) return 1;
    const std::size_t resident = status_bytes("VmRSS"), locked = status_bytes("VmLck");
    if (Pool::allocate(16 * kMiB) == nullptr) return 2;
    if (status_bytes("VmLck") < locked + 16 * kMiB) return 3;
    return status_bytes("VmRSS") > resident + 4 * kMiB ? 4 : 0;
  }));
}

TEST_P(LockedMemory, EndsAndTheHeapGrowsUnlocked) {
  expect_success(run_as(GetParam(), [] {
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0 || munlockall() != 0) return 1;
    if (Pool::allocate(16 * kMiB) == nullptr) return 2;
    return status_bytes("VmLck") == 0 ? 0 : 3;
  }));
}

TEST_P(LockedMemory, OfNowAloneDoesNotLockWhatComes) {
  expect_success(run_as(GetParam(), [] {
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0 || mlockall(MCL_CURRENT) != 0) return 1;
    const std::size_t locked = status_bytes("VmLck");
    if (locked == 0 || Pool::allocate(24 * kMiB) == nullptr) return 2;
    return status_bytes("VmLck") == locked ? 0 : 3;
  }));
}

TEST_P(LockedMemory, IsNotThatOfAChild) {
  expect_success(run_as(GetParam(), [] {
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) return 1;
    return run_in_child([] {
             if (Pool::allocate(16 * kMiB) == nullptr) return 1;
             return status_bytes("VmLck") == 0 ? 0 : 2;
           })
        .exit_status;
  }));
}

TEST_P(LockedMemory, GrowsABlockWithoutLosingItsContents) {
  expect_success(run_as(GetParam(), [] {
    char* const block = static_cast<char*>(Pool::allocate(6 * kMiB));
    std::memset(block, 7, 6 * kMiB);
    void* const neighbour = Pool::allocate(6 * kMiB);
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) return 1;
    const char* const grown = static_cast<const char*>(Pool::reallocate(block, 14 * kMiB));
    Pool::deallocate(neighbour);
    return grown != nullptr && grown[0] == 7 && grown[6 * kMiB - 1] == 7 ? 0 : 2;
  }));
}

INSTANTIATE_TEST_SUITE_P(As, LockedMemory, ::testing::Values(As{User::kRoot, 64 * kKiB}, kNobody),
                         ::testing::PrintToStringParamName());

TEST(LockedMemory, BeyondTheLimitIsRefusedAndNothingIsLocked) {
  expect_success(run_as({User::kNobody, 64 * kKiB}, [] {
    if (mlockall(MCL_CURRENT) != -1 || errno != ENOMEM) return 1;
    return status_bytes("VmLck") == 0 ? 0 : 2;
  }));
  expect_success(
      run_as({User::kNobody, 0}, [] { return mlockall(MCL_CURRENT) == -1 && errno == EPERM ? 0 : 1; }));
}

TEST(LockedMemory, BeyondTheLimitIsNullWhenTheHeapGrows) {
  expect_success(run_as(kNobody, [] {
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) return 1;
    if (Pool::allocate(100 * kMiB) != nullptr || errno != ENOMEM) return 2;
    return Pool::allocate(100) != nullptr ? 0 : 3;
  }));
}

TEST(LockedMemory, WithFlagsThatMeanNothingIsRefused) {
  for (const int flags : {0, int{MCL_ONFAULT}, 64, MCL_CURRENT | 64}) {
    errno = 0;
    EXPECT_EQ(mlockall(flags), -1);
    EXPECT_EQ(errno, EINVAL);
  }
}

}  // namespace
}  // namespace tarn::test
