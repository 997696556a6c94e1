// fork beside the first arenas of a process, which make the heap that all arenas share. A program of its own:
// in each round that must be the first time.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <barrier>
#include <thread>
#include <vector>

#include "support/child.h"
#include "support/seed.h"
#include "tarn/arena.h"
#include "tarn/fixed_pool.h"

namespace tarn::test {
namespace {

constexpr unsigned kSecondsOfAChild = 20;

bool use_an_arena() {
  Arena arena;
  return arena.allocate(10) != nullptr;
}

int fork_beside_the_first_arenas() {
  FixedPool earlier(64);  // so that fork is known to the library before the threads start
  constexpr unsigned kThreads = 4;
  std::barrier start(kThreads + 1);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      start.arrive_and_wait();
      use_an_arena();
    });
  start.arrive_and_wait();
  const pid_t child = fork();
  if (child == 0) {
    alarm(kSecondsOfAChild);
    _exit(use_an_arena() ? 0 : 1);
  }
  for (std::thread& thread : threads) thread.join();
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}

TEST(ForkOfPools, AChildForkedBesideTheFirstArenasMakesItsOwn) {
  for (std::uint64_t round = 0; round < amount(200, 2000); ++round) {
    const ChildResult result = run_in_child(fork_beside_the_first_arenas);
    ASSERT_TRUE(result.is_success()) << "round " << round << ": " << result.describe();
  }
}

}  // namespace
}  // namespace tarn::test
