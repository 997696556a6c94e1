// What samples stand for, against what was allocated: over sizes, intervals and lifetimes, with fixed seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "observe/profile/samples.h"
#include "support/sanitizer.h"
#include "tarn/memory_pool.h"
#include "tarn/profile.h"
#include "thread/observation/exponential.h"

namespace tarn::internal {
namespace {

constexpr int kRepetitions = 40;

struct Figures {
  double blocks = 0, bytes = 0, live_blocks = 0, live_bytes = 0;
};

struct Run {
  std::size_t size, interval, blocks;
  bool keeps_half;
};

void add_allocated(Figures& figures, double sign) {
  samples.for_each_stack([&](const SampledStack& stack) {
    figures.blocks += sign * static_cast<double>(stack.block_parts) / SampledStack::kPartsOfBlock;
    figures.bytes += sign * static_cast<double>(stack.byte_parts) / SampledStack::kPartsOfByte;
  });
}

void add_live(Figures& figures) {
  visit_samples([&](const tarn::Sample& sample) {
    figures.live_blocks += sample.weight;
    figures.live_bytes += sample.weight * static_cast<double>(sample.bytes);
  });
}

/// One run of the program, as its samples tell of it.
Figures figures_of(const Run& run, std::uint32_t seed) {
  this_thread.random = seed;
  std::vector<void*> kept;
  kept.reserve(run.blocks);
  Figures figures;
  add_allocated(figures, -1);
  for (std::size_t i = 0; i < run.blocks; ++i) {
    void* const block = allocate(run.size);
    if (run.keeps_half && i % 2 == 0)
      kept.push_back(block);
    else
      deallocate(block);
  }
  add_allocated(figures, 1);
  add_live(figures);
  for (void* const block : kept) deallocate(block);
  return figures;
}

/// The mean of all repetitions is the truth, as near as their spread lets one tell, and never 2 % beside it.
void expect_unbiased(const std::vector<double>& estimates, double truth, const std::string& what) {
  double sum = 0, squares = 0;
  for (const double estimate : estimates) sum += estimate, squares += estimate * estimate;
  const double count = static_cast<double>(estimates.size()), mean = sum / count;
  const double spread = std::sqrt(std::max(squares / count - mean * mean, 0.0) / (count - 1));
  // Parts of blocks and of bytes are rounded too, and e^-x has an error of its own.
  EXPECT_NEAR(mean, truth, 3 * spread + 1e-4 * truth) << what;
  EXPECT_NEAR(mean, truth, 0.02 * truth) << what;
}

void expect_unbiased(const Run& run) {
  std::vector<double> blocks, bytes, live_blocks, live_bytes;
  start_profile(run.interval);
  for (int i = 0; i < kRepetitions; ++i) {
    const Figures figures = figures_of(run, static_cast<std::uint32_t>(i * 2'654'435'761u + 12'345));
    blocks.push_back(figures.blocks);
    bytes.push_back(figures.bytes);
    live_blocks.push_back(figures.live_blocks);
    live_bytes.push_back(figures.live_bytes);
  }
  stop_profile();
  const std::string name = std::to_string(run.size) + " bytes each " + std::to_string(run.interval);
  const auto count = static_cast<double>(run.blocks), size = static_cast<double>(run.size);
  const double live = run.keeps_half ? count / 2 : 0;
  expect_unbiased(blocks, count, name + ": blocks");
  expect_unbiased(bytes, count * size, name + ": bytes");
  expect_unbiased(live_blocks, live, name + ": live blocks");
  expect_unbiased(live_bytes, live * size, name + ": live bytes");
}

TEST(Estimates, AreUnbiasedOverSizesIntervalsAndLifetimes) {
  constexpr double kSamples = 1'000;  // of a repetition, or more
  constexpr double kMostBlocks = test::kSanitizer ? 10'000 : 200'000;
  for (const std::size_t size : {16, 100, 700, 1'024, 3'000, 40'000, 300'000})
    for (const std::size_t interval : {512, 4'096, 65'536})
      for (const bool keeps_half : {false, true}) {
        const double blocks = kSamples * blocks_of_sample(size, interval);
        if (blocks > kMostBlocks || blocks * static_cast<double>(size) > 2e8) continue;  // takes long
        expect_unbiased({size, interval, static_cast<std::size_t>(blocks) / 2 * 2, keeps_half});
      }
}

}  // namespace
}  // namespace tarn::internal
