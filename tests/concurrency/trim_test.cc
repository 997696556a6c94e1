// Trimming and statistics walk the heaps of threads that are at work.
#include "concurrency/pool_memory.h"
#include "support/content.h"
#include "support/prelude.h"
#include "support/seed.h"
#include "support/sizes.h"
#include "support/threads.h"

namespace tarn::test {
namespace {

using Pool = PoolUnderTest;

TEST(Trim, BesideBusyThreadsLeavesTheirBlocksWhole) {
  std::atomic<unsigned> running{4};
  const std::uint64_t rounds = amount(40000, 2000000);
  Threads threads(4, [&](std::uint64_t t) {
    Random random(t);
    struct {
      void* block;
      std::size_t size;
    } live[64] = {};
    for (std::uint64_t i = 0; i < rounds; ++i) {
      auto& [block, size] = live[random.below(64)];
      ASSERT_TRUE(block == nullptr || holds(block, size, t));
      Pool::deallocate(block);
      size = 1 + random.below(random.below(100) == 0 ? 600 * kKiB : 2000);
      fill(block = Pool::allocate(size), size, t);
    }
    for (auto& each : live) Pool::deallocate(each.block);
    --running;
  });
  while (running != 0) {
    trim_pool();
    held_bytes();
  }
  threads.join();
}

}  // namespace
}  // namespace tarn::test
