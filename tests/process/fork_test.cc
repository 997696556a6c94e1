// The first calls of threads beside a fork.
#include "process/process_test.h"
#include "support/forked.h"

namespace tarn::test {
namespace {

void* first_block = nullptr;

// Threads whose first call meets the fork; over the library alone it is the first call of the whole process.
int fork_among_first_calls(int delay) {
  std::atomic<bool> may_go{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      while (!may_go) continue;
      PoolUnderTest::deallocate(PoolUnderTest::allocate(100));
    });
  may_go = true;
  for (int i = 0; i < delay; ++i) asm volatile("");
  const int status = forked([] {
    alarm(5);
    first_block = PoolUnderTest::allocate(300);
    return first_block == nullptr ? 1 : 0;
  });
  for (std::thread& thread : threads) thread.join();
  return status;
}

TEST(ForkAmongFirstCalls, NeverHangsTheChild) {
  for (int round = 0; round < 300; ++round) {
    const int status = forked([&] { return fork_among_first_calls(round * 37 % 3000) == 0 ? 0 : 1; });
    ASSERT_EQ(status, 0) << "round " << round;
  }
}

}  // namespace
}  // namespace tarn::test
