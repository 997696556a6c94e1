#include "tarn/profile.h"

#include <stdlib.h>

#include "observe/profile/code_modules.h"
#include "observe/profile/samples.h"
#include "os/memory/mapped_array.h"
#include "support/prelude.h"
#include "support/sanitizer.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/options.h"
#include "thread/observation/exponential.h"

namespace tarn {
namespace {

struct ProfileOfAll {
  ProfileOfAll() { start_profile(1); }
  ~ProfileOfAll() { stop_profile(); }
};

TEST(Profile, TellsItsInterval) {
  EXPECT_EQ(profile_interval(), 0u);
  start_profile(4'096);
  EXPECT_EQ(profile_interval(), 4'096u);
  stop_profile();
  EXPECT_EQ(profile_interval(), 0u);
}

TEST(Profile, VisitsEachLiveBlockWithItsStack) {
  const ProfileOfAll profile;
  std::vector<void*> blocks(100);
  for (void*& block : blocks) block = allocate(77);
  std::size_t found = 0;
  visit_samples([&](const Sample& sample) {
    if (sample.bytes != 77) return;
    ++found;
    EXPECT_EQ(sample.weight, 1);
    EXPECT_EQ(sample.pool, 0u);
    EXPECT_GT(sample.address_count, 1u);
  });
  EXPECT_EQ(found, 100u);
  for (void* const block : blocks) deallocate(block);
}

TEST(Profile, TellsAPoolByItsNumber) {
  const ProfileOfAll profile;
  Heap first, second;
  void* const of_first = first.allocate(78);
  void* const of_second = second.allocate(78);
  std::vector<std::uint64_t> pools;
  visit_samples([&](const Sample& sample) {
    if (sample.bytes == 78) pools.push_back(sample.pool);
  });
  ASSERT_EQ(pools.size(), 2u);
  EXPECT_NE(pools[0], pools[1]);
  EXPECT_NE(pools[0], 0u);
  first.deallocate(of_first);
  second.deallocate(of_second);
}

TEST(Profile, AVisitorMayAllocateAndFree) {
  const ProfileOfAll profile;
  std::vector<void*> blocks(1'000);
  for (void*& block : blocks) block = allocate(79);
  std::size_t visits = 0;
  visit_samples([&](const Sample& sample) {
    if (sample.bytes != 79) return;
    ++visits;
    deallocate(const_cast<void*>(sample.block));
    deallocate(allocate(80));
  });
  EXPECT_GT(visits, 500u);
  std::size_t left = 0;
  visit_samples([&](const Sample& sample) {
    if (sample.bytes != 79) return;
    ++left;
    deallocate(const_cast<void*>(sample.block));
  });
  EXPECT_EQ(visits + left, 1'000u);
}

}  // namespace
}  // namespace tarn

namespace tarn::internal {
namespace {

// -- What samples stand for, against what was allocated, over sizes, intervals and lifetimes, by fixed seeds.

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
  this_thread().random = seed;
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

os::Fault refuse_maps(os::Call call) {
  return call == os::Call::kMap ? os::Fault::kRefused : os::Fault::kNone;
}

TEST(MappedArray, KeepsItsElementsWhileItGrows) {
  os::MappedArray<std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < 100'000; ++i) ASSERT_TRUE(numbers.push(i));
  ASSERT_EQ(numbers.size(), 100'000u);
  for (std::uint32_t i = 0; i < 100'000; ++i) ASSERT_EQ(numbers[i], i);
  EXPECT_LE(numbers.memory().start, address_of(numbers.begin()));
  EXPECT_GE(numbers.memory().end, address_of(numbers.end()));
}

TEST(MappedArray, IsUnchangedWhereMemoryIsRefused) {
  os::MappedArray<std::uint32_t> numbers;
  ASSERT_TRUE(numbers.push(7));
  os::set_fault_hook_for_test(refuse_maps);
  EXPECT_FALSE(numbers.reserve(1'000'000));
  EXPECT_FALSE(os::MappedArray<char>().push('x'));
  os::set_fault_hook_for_test(nullptr);
  EXPECT_EQ(numbers.size(), 1u);
  EXPECT_EQ(numbers[0], 7u);
}

TEST(LoadedModules, HaveTheFilesOfTheProcess) {
  LoadedModule storage[64];
  LoadedModules modules(storage, 64);
  modules.note_all();
  const LoadedModule* const libc = modules.find(reinterpret_cast<std::uintptr_t>(&a64l));
  ASSERT_NE(libc, nullptr);
  EXPECT_NE(std::string(libc->path).find("libc"), std::string::npos);
  static char of_program;
  const LoadedModule* const program = modules.find(reinterpret_cast<std::uintptr_t>(&of_program));
  ASSERT_NE(program, nullptr);
  EXPECT_NE(program, libc);
  EXPECT_EQ(modules.find(16), nullptr);
}

TEST(LoadedModules, BeyondTheRoomAreLeftOut) {
  LoadedModule storage[1];
  LoadedModules modules(storage, 1);
  modules.note_all();
  EXPECT_EQ(modules.find(reinterpret_cast<std::uintptr_t>(&a64l)), nullptr);
  LoadedModules none(nullptr, 0);
  none.note_all();
  FixedText<64> text;
  EXPECT_FALSE(none.add_place(text, 16));
  EXPECT_EQ(text.length(), 0u);
}

}  // namespace
}  // namespace tarn::internal
