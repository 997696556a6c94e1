#include "observer/watch/sampling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/profile.h"

namespace tarn::observer::test {
namespace {

constexpr std::size_t kBytes = 77, kBlocks = 500;

/// Blocks of one site in the general pool and in a heap, each sampled; the profile is off again.
class SampledProgram : public ::testing::Test {
 protected:
  SampledProgram() : blocks_(2 * kBlocks) {
    start_profile(1);
    for (std::size_t i = 0; i < blocks_.size(); ++i)
      blocks_[i] = i % 2 == 0 ? tarn::allocate(kBytes) : heap_.allocate(kBytes);
    stop_profile();
  }
  ~SampledProgram() override {
    for (std::size_t i = 0; i < blocks_.size(); ++i)
      i % 2 == 0 ? tarn::deallocate(blocks_[i]) : heap_.deallocate(blocks_[i]);
  }

  Heap heap_;
  std::vector<void*> blocks_;
};

TEST_F(SampledProgram, IsReadAsItTellsOfItself) {
  const auto source = open_own_process();
  const Sampling sampling = SamplingWords(*source).read();
  EXPECT_EQ(sampling.interval, 0u);
  EXPECT_TRUE(sampling.is_whole);
  std::map<std::uint64_t, std::vector<std::uint64_t>> addresses_of;
  for (const SampledStack& stack : sampling.stacks) addresses_of[stack.number] = stack.addresses;
  std::map<Address, const SampledBlock*> found;
  for (const SampledBlock& sample : sampling.live) found[sample.block] = &sample;
  std::size_t compared = 0;
  visit_samples([&](const Sample& sample) {
    if (sample.bytes != kBytes) return;
    const auto place = found.find(reinterpret_cast<Address>(sample.block));
    ASSERT_NE(place, found.end());
    EXPECT_EQ(place->second->requested, sample.bytes);
    EXPECT_EQ(place->second->pool, sample.pool);
    EXPECT_EQ(blocks_of(*place->second), sample.weight);
    EXPECT_EQ(addresses_of[place->second->stack],
              std::vector<std::uint64_t>(sample.addresses, sample.addresses + sample.address_count));
    ++compared;
  });
  EXPECT_EQ(compared, 2 * kBlocks);
}

TEST_F(SampledProgram, CountsWhatItsStacksAllocated) {
  const auto source = open_own_process();
  const Sampling sampling = SamplingWords(*source).read();
  std::map<std::uint64_t, std::uint64_t> live_of, allocated_of;
  for (const SampledStack& stack : sampling.stacks) allocated_of[stack.number] = stack.blocks;
  for (const SampledBlock& sample : sampling.live) ++live_of[sample.stack];
  for (const auto& [stack, live] : live_of) EXPECT_GE(allocated_of[stack], live);
}

TEST_F(SampledProgram, StacksOfLiveBlocksAreReadAlone) {
  const auto source = open_own_process();
  const SamplingWords words(*source);
  const Sampling whole = words.read();
  Sampling some = words.read_live();
  EXPECT_TRUE(some.stacks.empty());
  ASSERT_GT(whole.stacks.size(), 1u);
  const std::uint64_t kept = some.live.front().stack;
  std::erase_if(some.live, [&](const SampledBlock& sample) { return sample.stack != kept; });
  words.read_stacks_of_live(some);
  ASSERT_EQ(some.stacks.size(), 1u);
  EXPECT_EQ(some.stacks.front().number, kept);
  const auto same = std::ranges::find(whole.stacks, kept, &SampledStack::number);
  ASSERT_NE(same, whole.stacks.end());
  EXPECT_EQ(some.stacks.front().addresses, same->addresses);
  EXPECT_TRUE(std::ranges::is_sorted(whole.stacks, {}, &SampledStack::number));
}

/// Memory in which some bits are wrong.
class Damaged final : public Source {
 public:
  Damaged(const Source& source, unsigned seed) : source_(source), random_(seed) {}
  std::size_t read(Address address, void* into, std::size_t bytes) const override {
    const std::size_t count = source_.read(address, into, bytes);
    for (std::size_t at = random_() % 4'096; at < count; at += random_() % 4'096 + 1)
      static_cast<unsigned char*>(into)[at] ^= static_cast<unsigned char>(1u << random_() % 8);
    return count;
  }
  std::span<const Mapping> mappings() const override { return source_.mappings(); }
  SourceKind kind() const override { return source_.kind(); }
  int pid() const override { return source_.pid(); }
  std::string program() const override { return source_.program(); }

 private:
  const Source& source_;
  mutable std::minstd_rand random_;
};

TEST_F(SampledProgram, IsReadWithoutHarmWhereItsMemoryIsDamaged) {
  const auto source = open_own_process();
  int refused = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    const Damaged damaged(*source, seed);
    try {
      const Sampling sampling = SamplingWords(damaged).read();
      EXPECT_LT(sampling.live.size(), 1'000'000u);
    } catch (const ObserveError&) {
      ++refused;
    }
  }
  EXPECT_LT(refused, 300) << "none was read: the test shows nothing";
}

}  // namespace
}  // namespace tarn::observer::test
