// The order in which a process begins and ends: before main, in exit handlers, with threads that never stop.
#include "concurrency/pool_memory.h"
#include "support/child.h"
#include "support/content.h"
#include "support/pools.h"
#include "support/prelude.h"
#include "support/seed.h"
#include "support/sizes.h"

namespace tarn::test {
namespace {

using Pool = PoolUnderTest;

void* allocated_before_main = nullptr;
bool worked_before_main = false;

[[gnu::constructor(101)]] void allocate_before_main() {
  worked_before_main = use_all_sizes();
  fill(allocated_before_main = Pool::allocate(1234), 1234, 1);
}

TEST(ProcessEnd, AllocationWorksBeforeMain) {
  EXPECT_TRUE(worked_before_main);
  EXPECT_TRUE(holds(allocated_before_main, 1234, 1));
}

void fail_unless_all_sizes_work() {
  if (!use_all_sizes()) _exit(3);
}

struct WorksAtExit {
  ~WorksAtExit() { fail_unless_all_sizes_work(); }
};

TEST(ProcessEnd, ExitHandlersAndStaticDestructorsMayAllocate) {
  const ChildResult result = run_in_child([] {
    static WorksAtExit object;
    static void* kept = Pool::allocate(777);
    std::atexit([] { Pool::deallocate(kept); });
    std::atexit(fail_unless_all_sizes_work);
    thread_local WorksAtExit in_main_thread;
    (void)in_main_thread;
    std::exit(0);
    return 1;
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
}

void start_endless_threads(unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    std::thread([i] {
      Random random(i);
      void* block = nullptr;
      for (;;) block = Pool::reallocate(block, 1 + random.below(random.below(9) == 0 ? kMiB : 500));
    }).detach();
}

TEST(ProcessEnd, ExitWhileDetachedThreadsAllocate) {
  for (std::uint64_t i = 0; i < amount(20, 500); ++i) {
    const ChildResult result = run_in_child([] {
      start_endless_threads(3);
      std::atexit(fail_unless_all_sizes_work);
      std::exit(0);
      return 1;
    });
    ASSERT_TRUE(result.is_success()) << result.describe();
  }
}

}  // namespace
}  // namespace tarn::test
