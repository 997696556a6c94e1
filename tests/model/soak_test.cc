// Everything at once for as long as one likes: threads that come and go with blocks of up to 64 MiB, trims,
// and forks whose children go on working. TARN_SOAK_SECONDS=3600 build/tests/model/model_soak is an hour.
#include "concurrency/pool_memory.h"
#include "model/model.h"
#include "support/child.h"
#include "support/process_memory.h"
#include "support/sizes.h"
#include "support/threads.h"

namespace tarn::test {
namespace {

constexpr unsigned kWorkers = 4;
constexpr std::size_t kLiveOfWorker = 96 * kMiB;
constexpr SizeRange kUpTo64Mib{"UpTo64MiB", 0, 64 * kMiB};

std::chrono::seconds soak_time() {
  const char* const seconds = std::getenv("TARN_SOAK_SECONDS");
  return std::chrono::seconds(seconds != nullptr ? std::atol(seconds) : static_cast<long>(amount(3, 60)));
}

/// A worker's threads live for a moment each.
void work(std::uint64_t seed, const std::atomic<bool>& must_stop) {
  Random random(seed);
  for (std::uint64_t generation = 0; !must_stop; ++generation)
    std::thread([&] {
      const auto order = static_cast<FreeOrder>(random.below(4));
      const SizeRange range = random.below(3) == 0 ? kSmall : kUpTo64Mib;
      Model<PoolUnderTest> model(random.next(), order, range, kLiveOfWorker);
      for (std::uint64_t i = random.below(40); i != 0 && !must_stop; --i) model.run(100);
    }).join();
}

int work_in_child(std::uint64_t seed) {
  Model<PoolUnderTest> model(seed, FreeOrder::kRandom, kAll, 8 * kMiB);
  std::thread([&] { model.run(300); }).join();
  trim_pool();
  model.run(300);
  return model.has_failed() ? 1 : 0;
}

TEST(Soak, ThreadsBlocksToSixtyFourMebibytesTrimsAndForks) {
  const std::uint64_t seed = fresh_seed();
  const auto end = std::chrono::steady_clock::now() + soak_time();
  std::atomic<bool> must_stop{false};
  Threads workers(kWorkers, [&](unsigned i) { work(seed + i, must_stop); });
  Random random(seed + kWorkers);
  std::uint64_t forks = 0, trims = 0;
  std::size_t most_resident = 0;
  while (std::chrono::steady_clock::now() < end && !HasFailure()) {
    if (random.below(4) == 0) trim_pool(), ++trims;
    const ChildResult child = run_in_child([&] { return work_in_child(seed + forks); });
    EXPECT_TRUE(child.is_success()) << child.describe();
    ++forks;
    most_resident = std::max(most_resident, resident_bytes());
    std::this_thread::sleep_for(std::chrono::milliseconds(random.below(100)));
  }
  must_stop = true;
  workers.join();
  validate_library();
  std::printf("%llu forks, %llu trims, at most %zu MiB resident\n", static_cast<unsigned long long>(forks),
              static_cast<unsigned long long>(trims), most_resident / kMiB);
  // A worker may exceed its limit by a block, and have another one while that is reallocated.
  EXPECT_LE(most_resident, 2 * kWorkers * (kLiveOfWorker + 2 * 64 * kMiB));
  trim_pool();
  EXPECT_LE(held_bytes(), 64 * kMiB) << "of threads that are gone";
}

}  // namespace
}  // namespace tarn::test
