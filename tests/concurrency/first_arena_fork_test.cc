// fork beside the first arenas of a process, which make the heap that all arenas share. A program of its own:
// in each round that must be the first time.
#include "support/child.h"
#include "support/forked.h"
#include "support/prelude.h"
#include "support/seed.h"
#include "support/threads.h"
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
  Threads threads(4, [] { use_an_arena(); });
  const int status = forked([] {
    alarm(kSecondsOfAChild);
    return use_an_arena() ? 0 : 1;
  });
  threads.join();
  return status == 0 ? 0 : 1;
}

TEST(ForkOfPools, AChildForkedBesideTheFirstArenasMakesItsOwn) {
  for (std::uint64_t round = 0; round < amount(200, 2000); ++round) {
    const ChildResult result = run_in_child(fork_beside_the_first_arenas);
    ASSERT_TRUE(result.is_success()) << "round " << round << ": " << result.describe();
  }
}

}  // namespace
}  // namespace tarn::test
