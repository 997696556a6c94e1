// fork in a process whose other threads are busy in the allocator: the child must find nothing half done.
#include "concurrency/pool_memory.h"
#include "support/child.h"
#include "support/content.h"
#include "support/forked.h"
#include "support/invariants.h"
#include "support/prelude.h"
#include "support/seed.h"
#include "support/sizes.h"
#include "support/threads.h"

namespace tarn::test {
namespace {

using Pool = PoolUnderTest;

/// Threads that allocate and free without pause, also each other's blocks, until they are told to stop.
class BusyThreads {
 public:
  explicit BusyThreads(unsigned count) : threads_(count, [this](unsigned i) { work(i); }) {}
  ~BusyThreads() {
    must_stop_ = true;
    threads_.join();
    for (std::atomic<void*>& shared : shared_) Pool::deallocate(shared);
  }

 private:
  void work(std::uint64_t seed) {
    Random random(seed);
    while (!must_stop_) {
      const std::size_t size = 1 + random.below(random.below(20) == 0  ? kMiB
                                                : random.below(4) == 0 ? 40000
                                                                       : 300);
      Pool::deallocate(shared_[random.below(kShared)].exchange(Pool::allocate(size)));
      if (random.below(500) == 0) std::thread([] { use_all_sizes(kMiB); }).join();
      if (random.below(300) == 0) held_bytes();
      if (random.below(300) == 0) trim_pool();
    }
  }

  static constexpr std::size_t kShared = 256;
  std::atomic<void*> shared_[kShared] = {};
  std::atomic<bool> must_stop_{false};
  Threads threads_;
};

int work_in_child(std::size_t largest = 5 * kMiB) {
  validate_library();
  bool is_good = use_all_sizes(largest);
  std::thread([&] { is_good = is_good && use_all_sizes(largest); }).join();
  trim_pool();
  held_bytes();
  validate_library();
  return is_good && use_all_sizes(largest) ? 0 : 1;
}

int fork_storm(std::uint64_t forks) {
  BusyThreads busy(4);
  for (std::uint64_t i = 0; i < forks; ++i) {
    const int status = forked([&] { return work_in_child(i % 8 == 0 ? 5 * kMiB : kMiB); });
    if (status != 0) {
      dprintf(STDERR_FILENO, "child %d of the storm ended with %#x\n", static_cast<int>(i), status);
      return 1;
    }
  }
  return 0;
}

TEST(Fork, AStormOfTwoHundredChildrenOfABusyProcessWorks) {
  const ChildResult result =
      run_in_child([] { return fork_storm(amount(200, 5000)); }, long_tests() ? 600 : 60);
  EXPECT_TRUE(result.is_success()) << result.describe();
}

TEST(Fork, AChildOfABusyProcessLeavesByExit) {
  const ChildResult result = run_in_child(
      [] {
        BusyThreads busy(4);
        return forked([]() -> int { std::exit(work_in_child()); }) == 0 ? 0 : 1;
      },
      30);
  EXPECT_TRUE(result.is_success()) << result.describe();
}

TEST(Fork, TheChildKeepsWhatItsParentAllocated) {
  std::vector<void*> blocks;
  for (const std::size_t size : landmark_sizes(5 * kMiB))
    fill(blocks.emplace_back(Pool::allocate(size)), size, size);
  const ChildResult result = run_in_child([&] {
    std::size_t i = 0;
    for (const std::size_t size : landmark_sizes(5 * kMiB)) {
      if (!holds(blocks[i], size, size)) return 1;
      Pool::deallocate(blocks[i++]);
    }
    return use_all_sizes() ? 0 : 2;
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
  std::size_t i = 0;
  for (const std::size_t size : landmark_sizes(5 * kMiB)) {
    EXPECT_TRUE(holds(blocks[i], size, size));
    Pool::deallocate(blocks[i++]);
  }
}

TEST(Fork, GenerationsOfChildrenWork) {
  const ChildResult result = run_in_child([] {
    for (int generation = 0; generation < 20; ++generation) {
      if (work_in_child() != 0) return 1;
      const pid_t child = fork();
      if (child == 0) continue;
      return status_of(child) == 0 ? 0 : 1;
    }
    return 0;
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
}

// Memory that other threads of the parent owned is not lost to the child.
TEST(Fork, TheChildReusesTheMemoryOfThreadsItDoesNotHave) {
  std::vector<void*> blocks(20000);
  std::barrier allocated(2), done(2);
  std::thread owner([&] {
    for (void*& block : blocks) block = Pool::allocate(500);
    allocated.arrive_and_wait();
    done.arrive_and_wait();
  });
  allocated.arrive_and_wait();
  const ChildResult result = run_in_child([&] {
    const std::size_t held = held_bytes();
    for (void* block : blocks) Pool::deallocate(block);
    for (void*& block : blocks) block = Pool::allocate(500);
    return held_bytes() <= held + 4 * kMiB ? 0 : 1;
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
  done.arrive_and_wait();
  owner.join();
  for (void* block : blocks) Pool::deallocate(block);
}

}  // namespace
}  // namespace tarn::test
