// Limits the system sets: RLIMIT_AS and RLIMIT_DATA, before the start and in the middle of a run.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "fault/use_all_memory.h"
#include "support/child.h"
#include "support/content.h"
#include "support/pools.h"
#include "support/sizes.h"

namespace tarn::test {
namespace {

using Pool = PoolUnderTest;

void set_limit(int resource, std::size_t bytes) {
  const rlimit limit{bytes, RLIM_INFINITY};
  setrlimit(static_cast<__rlimit_resource>(resource), &limit);
}

class AddressSpace : public ::testing::TestWithParam<std::size_t> {};

TEST_P(AddressSpace, LimitedAtTheStartIsUsedForTheMostPart) {
  for (const std::size_t size : {1000 * kKiB, 100 * kKiB, std::size_t{700}}) {
    const ChildResult result = run_in_child([&] {
      set_limit(RLIMIT_AS, GetParam());
      execl(TARN_TEST_USE_ALL_MEMORY, "use_all_memory", std::to_string(size).c_str(),
            std::to_string(GetParam() / 2).c_str(), nullptr);
      return 127;
    });
    EXPECT_TRUE(result.is_success()) << result.describe();
  }
}

TEST_P(AddressSpace, LimitedInTheMiddleOfARunIsNullAndNoCrash) {
  for (const std::size_t size : {1000 * kKiB, 100 * kKiB, std::size_t{700}}) {
    const ChildResult result = run_in_child([&] {
      void* const before = Pool::allocate(5 * kMiB);
      fill(before, 5 * kMiB, 1);
      for (const std::size_t each : landmark_sizes(5 * kMiB)) Pool::deallocate(Pool::allocate(each));
      set_limit(RLIMIT_AS, GetParam());
      if (const int wrong = use_all_memory(size, 0); wrong != 0) return wrong;
      if (!holds(before, 5 * kMiB, 1)) return 5;
      set_limit(RLIMIT_AS, RLIM_INFINITY);
      void* const after = Pool::allocate(GetParam());
      if (after == nullptr) return 6;
      fill(after, GetParam(), 2);
      return holds(before, 5 * kMiB, 1) ? 0 : 7;
    });
    EXPECT_TRUE(result.is_success()) << size << ": " << result.describe();
  }
}

// Moving pages is one way to grow; the system may refuse it when there is a limit, and must not be left with
// a hole.
TEST_P(AddressSpace, LimitedInTheMiddleOfARunLetsBlocksGrowOrRefuses) {
  const ChildResult result = run_in_child([&] {
    Pool::deallocate(Pool::allocate(100 * kMiB));
    void* block = Pool::allocate(8 * kMiB);
    void* const neighbour = Pool::allocate(kMiB);
    fill(block, 8 * kMiB, 1);
    set_limit(RLIMIT_AS, GetParam());
    void* const moved = Pool::reallocate(block, 24 * kMiB);
    if (moved != nullptr) block = moved;
    if (!holds(block, 8 * kMiB, 1)) return 1;
    std::vector<void*> others;
    for (int i = 0; i < 40; ++i)
      if (void* const other = Pool::allocate(2 * kMiB); other != nullptr) fill(other, 2 * kMiB, 2);
    Pool::deallocate(neighbour);
    return holds(block, 8 * kMiB, 1) ? 0 : 2;
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
}

INSTANTIATE_TEST_SUITE_P(OfBytes, AddressSpace, ::testing::Values(200 * kMiB, 1024 * kMiB),
                         ::testing::PrintToStringParamName());

TEST(DataLimit, IsNullAndNoCrashAndMemoryIsHadAgainAfterwards) {
  for (const std::size_t size : {1000 * kKiB, std::size_t{3000}, std::size_t{100}}) {
    const ChildResult result = run_in_child([&] {
      set_limit(RLIMIT_DATA, 150 * kMiB);
      if (const int wrong = use_all_memory(size, 60 * kMiB); wrong != 0) return wrong;
      set_limit(RLIMIT_DATA, RLIM_INFINITY);
      return Pool::allocate(200 * kMiB) != nullptr ? 0 : 6;
    });
    EXPECT_TRUE(result.is_success()) << size << ": " << result.describe();
  }
}

}  // namespace
}  // namespace tarn::test
