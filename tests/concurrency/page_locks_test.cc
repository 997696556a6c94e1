// How seldom threads meet at the one lock of the page cache: counted, per 1,000 blocks, with 1 to 64 threads.
#include "support/pools.h"
#include "support/prelude.h"
#include "support/seed.h"
#include "support/sizes.h"
#include "support/threads.h"
#include "tarn/stats.h"

namespace tarn::test {
namespace {

struct Traffic {
  const char* name;
  std::size_t live;  // blocks of all threads together
  std::size_t smallest, largest;
  double most_locks;  // per 1,000 replacements
};

class PageLocks : public testing::TestWithParam<unsigned> {};

// \returns the times the lock was taken per 1,000 replacements, warm.
double locks_per_thousand(const Traffic& traffic, unsigned thread_count) {
  const std::size_t live = traffic.live / thread_count, rounds = amount(256'000, 2'560'000) / thread_count;
  std::barrier together(thread_count);
  tarn::Statistics before{}, after{};
  in_threads(thread_count, [&](unsigned t) {
    Random random(t + 1);
    std::vector<void*> blocks(live);
    auto size = [&] { return random.between(traffic.smallest, traffic.largest); };
    auto replace = [&](void*& block) {
      PoolUnderTest::deallocate(block);
      block = PoolUnderTest::allocate(size());
      *static_cast<char*>(block) = 1;
    };
    for (std::size_t i = 0; i < rounds + 4 * live; ++i) replace(blocks[random.below(live)]);
    together.arrive_and_wait();
    if (t == 0) before = tarn::stats();
    together.arrive_and_wait();
    for (std::size_t i = 0; i < rounds; ++i) replace(blocks[random.below(live)]);
    together.arrive_and_wait();
    if (t == 0) after = tarn::stats();
    together.arrive_and_wait();
    for (void* block : blocks) PoolUnderTest::deallocate(block);
  });
  return 1000.0 * static_cast<double>(after.page_cache_locks - before.page_cache_locks) /
         static_cast<double>(rounds * thread_count);
}

TEST_P(PageLocks, AreSeldomTaken) {
  static constexpr Traffic kTraffic[] = {
      {"to 1 KiB", 64'000, 1, kKiB, 3},
      {"to 32 KiB", 6'400, 1, 32 * kKiB, 3},
      {"33-256 KiB", 640, 33 * kKiB, 256 * kKiB, 100},
      {"512 KiB", 64, 512 * kKiB, 512 * kKiB, 3},
      {"0.5-1 MiB", 64, 512 * kKiB, 1024 * kKiB, 250},
  };
  for (const Traffic& traffic : kTraffic) {
    const double locks = locks_per_thousand(traffic, GetParam());
    std::printf("%-12s %3u threads: %.2f\n", traffic.name, GetParam(), locks);
    EXPECT_LE(locks, traffic.most_locks) << traffic.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, PageLocks, testing::Values(1u, 4u, 16u, 64u));

}  // namespace
}  // namespace tarn::test
