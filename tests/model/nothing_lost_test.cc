// When a program has freed everything, the pool counts nothing as live and has given its pages back.
#include "model/model.h"
#include "observe/figures/stats.h"
#include "support/prelude.h"
#include "support/sizes.h"

namespace tarn::test {
namespace {

using internal::Stats;

Stats stats_after_trim() {
  tarn::trim();
  auto stats = std::make_unique<Stats>();
  internal::collect_stats(*stats);
  return *stats;
}

void expect_nothing_used() {
  const Stats stats = stats_after_trim();
  EXPECT_EQ(stats.live_bytes, 0u);
  EXPECT_EQ(stats.large_live_count, 0u);
  EXPECT_EQ(stats.large_live_bytes, 0u);
  EXPECT_EQ(stats.mapped_bytes, 0u);
  for (const internal::ClassUse& use : stats.classes) {
    EXPECT_EQ(use.slabs, 0u);
    EXPECT_EQ(use.live_blocks, 0u);
  }
}

TEST(NothingIsLost, AfterAProgramOfOneThread) {
  for (const FreeOrder order : {FreeOrder::kLifo, FreeOrder::kRandom, FreeOrder::kInterleaved}) {
    Model<MemoryPool> model(11, order, kAll, 32 * kMiB);
    model.run(amount(8000, 100000));
    model.free_all();
    expect_nothing_used();
  }
}

TEST(NothingIsLost, WhenAnotherThreadFreesAndEnds) {
  Model<MemoryPool> model(12, FreeOrder::kRandom, kAll, 32 * kMiB);
  model.run(amount(8000, 100000));
  std::thread([&] { model.free_all(); }).join();
  expect_nothing_used();
}

TEST(NothingIsLost, WhenTheThreadThatAllocatedHasEnded) {
  Model<MemoryPool> model(13, FreeOrder::kRandom, kAll, 32 * kMiB);
  std::thread([&] { model.run(amount(8000, 100000)); }).join();
  model.free_all();
  expect_nothing_used();
}

TEST(NothingIsLost, WhenBothThreadsHaveEnded) {
  Model<MemoryPool> model(14, FreeOrder::kFifo, kAll, 32 * kMiB);
  std::thread([&] { model.run(amount(8000, 100000)); }).join();
  std::thread([&] { model.free_all(); }).join();
  expect_nothing_used();
}

}  // namespace
}  // namespace tarn::test
