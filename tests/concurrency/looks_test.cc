// Looks for memory to give back, by a thread that does nothing else and by those that allocate and free.
// Threads come and go meanwhile, hand blocks to each other, rest, and are at times more than there are
// owners.
#include "page/give_back/background.h"
#include "support/content.h"
#include "support/invariants.h"
#include "support/prelude.h"
#include "support/seed.h"
#include "support/sizes.h"
#include "support/threads.h"
#include "tarn/memory_pool.h"
#include "tarn/options.h"

namespace tarn::test {
namespace {

constexpr std::size_t kHeaderBytes = sizeof(std::size_t);

/// Blocks that begin with their size; whoever finds one in a shared place checks and frees it.
class Exchange {
 public:
  ~Exchange() {
    for (const std::atomic<void*>& place : places_) check_and_free(place.load());
  }
  void leave(std::size_t size, Random& random) {
    auto* const block = static_cast<unsigned char*>(allocate(size + kHeaderBytes));
    ASSERT_NE(block, nullptr);
    *reinterpret_cast<std::size_t*>(block) = size;
    fill(block + kHeaderBytes, size, size);
    check_and_free(places_[random.below(kPlaces)].exchange(block));
  }

 private:
  static void check_and_free(void* found) {
    if (found == nullptr) return;
    auto* const block = static_cast<unsigned char*>(found);
    const std::size_t size = *static_cast<std::size_t*>(found);
    EXPECT_TRUE(holds(block + kHeaderBytes, size, size));
    deallocate(found);
  }

  static constexpr std::size_t kPlaces = 2048;
  std::atomic<void*> places_[kPlaces] = {};
};

void work(Exchange& exchange, std::uint64_t seed, std::uint64_t count) {
  Random random(seed);
  for (std::uint64_t i = 0; i < count; ++i) {
    const bool is_rare = random.below(200) == 0;
    exchange.leave(8 + random.below(is_rare ? 100 * kKiB : 1000), random);
    // Idle for a look or two: its owner, if others do not use that one.
    if (random.below(2000) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST(Looks, BesideThreadsThatComeAndGoLeaveTheirBlocksWhole) {
  set_option("decay", "1ms");
  std::atomic<bool> must_stop{false};
  {
    Exchange exchange;
    std::thread looks([&] {
      while (!must_stop) {
        internal::background.step();
        internal::background.notice(0);
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      }
    });
    for (std::uint64_t round = 0; round < amount(12, 400); ++round) {
      Threads threads(1 + round % 12, [&](std::uint64_t t) { work(exchange, round * 16 + t, 3000); });
      validate_library();  // also while they run
      threads.join();
    }
    must_stop = true;
    looks.join();
  }
  validate_library();
}

}  // namespace
}  // namespace tarn::test
