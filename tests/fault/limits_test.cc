// Limits the system sets: RLIMIT_AS and RLIMIT_DATA, before the start and in the middle of a run.
#include <sys/resource.h>

#include <initializer_list>

#include "fault/use_all_memory.h"
#include "support/child.h"
#include "support/content.h"
#include "support/pools.h"
#include "support/prelude.h"
#include "support/sizes.h"
#include "support/threads.h"

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

// What the limit counts.
std::size_t data_bytes() {
  std::ifstream file("/proc/self/status");
  std::string word;
  std::size_t kib = 0;
  while (file >> word && word != "VmData:") {
  }
  file >> kib;
  return kib * kKiB;
}

// Blocks in a list through the blocks themselves.
class Filling {
 public:
  // \returns the bytes that could be had.
  std::size_t fill(std::size_t size, std::size_t most = SIZE_MAX) {
    std::size_t bytes = 0;
    for (; bytes < most; bytes += size) {
      auto** const block = static_cast<void**>(Pool::allocate(size));
      if (block == nullptr) break;
      *block = first_;
      first_ = block;
    }
    return bytes;
  }
  void free_all() {
    while (first_ != nullptr) {
      void* const next = *static_cast<void**>(first_);
      Pool::deallocate(first_);
      first_ = next;
    }
  }

 private:
  void* first_ = nullptr;
};

// \returns the size that got less than its share; 0: none did.
int size_without_its_share(std::initializer_list<std::size_t> sizes, std::size_t share) {
  for (const std::size_t size : sizes) {
    Filling filling;
    const std::size_t bytes = filling.fill(size);
    filling.free_all();
    if (bytes < share) return static_cast<int>(size % 251) + 1;
  }
  return 0;
}

TEST(DataLimit, GivesEachSizeItsShareWhateverWasUsedBefore) {
  const ChildResult result = run_in_child([] {
    set_limit(RLIMIT_DATA, data_bytes() + 64 * kMiB);
    return size_without_its_share({2000, 48, 112, 500, 30000, kMiB, 48, 64, 3000}, 64 * kMiB * 8 / 10);
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
}

TEST(DataLimit, GivesBackWhatOtherThreadsHoldIdleBeforeARefusal) {
  constexpr int kThreads = 8;
  constexpr std::size_t kIdle = 5 * kMiB, kRoom = 24 * kMiB;
  const ChildResult result = run_in_child([] {
    std::barrier together(kThreads + 1);
    std::atomic<int> failures{0};
    Threads threads(kThreads, [&](int t) {
      Filling filling;
      const std::size_t size = std::size_t{64} << t % 6;
      filling.fill(size, kIdle);
      filling.free_all();
      together.arrive_and_wait();
      together.arrive_and_wait();
      void* const block = Pool::allocate(size);
      failures += block == nullptr;
      Pool::deallocate(block);
    });
    together.arrive_and_wait();
    set_limit(RLIMIT_DATA, data_bytes() + kRoom);
    const int size = size_without_its_share({2000, 3000, kMiB}, kRoom + kThreads * kIdle / 4);
    together.arrive_and_wait();
    threads.join();
    return size != 0 ? size : failures != 0 ? 255 : 0;
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
}

}  // namespace
}  // namespace tarn::test
