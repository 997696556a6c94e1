#include "observe/profile/samples.h"

#include "general/options/setup.h"
#include "support/prelude.h"
#include "support/threads.h"
#include "thread/this_thread.h"

namespace tarn::internal {
namespace {

void* block_at(std::uint64_t address) { return reinterpret_cast<void*>(address); }

std::set<std::uint64_t> live_blocks() {
  std::set<std::uint64_t> blocks;
  samples.for_each([&](const Sample& sample) { blocks.insert(sample.block); });
  return blocks;
}

TEST(Samples, HoldWhatWasAddedAndNotRemoved) {
  std::set<std::uint64_t> expected;
  for (std::uint64_t i = 1; i <= 20'000; ++i) {
    samples.add({block_at(i * 48), 40, 65536});
    expected.insert(i * 48);
  }
  samples.validate();
  EXPECT_EQ(live_blocks(), expected);
  for (std::uint64_t i = 1; i <= 20'000; ++i)
    if (i % 3 != 0) {
      samples.remove(block_at(i * 48));
      expected.erase(i * 48);
    }
  samples.validate();
  EXPECT_EQ(live_blocks(), expected);
  samples.remove(block_at(48 * 2));
  samples.remove(block_at(7));
  EXPECT_EQ(live_blocks(), expected) << "what is no sample is not missed";
}

TEST(Samples, ABlockThatMovesKeepsItsStack) {
  samples.add({block_at(4096), 100, 1});
  std::uint32_t stack = 0;
  samples.for_each([&](const Sample& sample) { stack = sample.stack; });
  samples.move(block_at(4096), block_at(8192));
  samples.validate();
  samples.for_each([&](const Sample& sample) {
    EXPECT_EQ(sample.block, 8192u);
    EXPECT_EQ(sample.stack, stack);
    EXPECT_EQ(sample.requested, 100u);
  });
  samples.move(block_at(4096), block_at(12288));
  EXPECT_EQ(live_blocks(), std::set<std::uint64_t>{8192});
}

/// A sample, from another stack for each path.
[[gnu::noinline]] void add_by_path(std::uint64_t address, unsigned path, int depth) {
  if (depth == 0) return samples.add({block_at(address), 64, 1});
  // Two calls that the compiler must not join: each bit of the path is another address on the stack.
  if ((path & 1) != 0) {
    asm volatile("nop" ::: "memory");
    add_by_path(address, path >> 1, depth - 1);
    asm volatile("nop" ::: "memory");
  } else {
    asm volatile("" ::: "memory");
    add_by_path(address, path >> 1, depth - 1);
    asm volatile("" ::: "memory");
  }
}

TEST(Samples, ThousandsOfStacksAreToldApartAndFoundAgain) {
  constexpr int kDepth = 15;
  constexpr std::uint64_t kStacks = 1 << kDepth;
  set_up_once();  // stacks are as deep as the option says
  for (std::uint64_t i = 0; i < 2 * kStacks; ++i)
    add_by_path((i + 1) * 64, static_cast<unsigned>(i % kStacks), kDepth);
  std::size_t stacks = 0;
  samples.for_each_stack([&](const SampledStack& stack) { stacks += stack.samples == 2 ? 1 : 0; });
  EXPECT_EQ(stacks, kStacks);
}

[[gnu::noinline]] void add_from_one_place(std::uint64_t address, std::uint64_t interval = 1) {
  samples.add({block_at(address), 64, interval});
}

TEST(Samples, BlocksOfOnePlaceShareAStackThatCountsThem) {
  for (std::uint64_t i = 1; i <= 100; ++i) add_from_one_place(i * 64);
  std::set<std::uint32_t> stacks;
  samples.for_each([&](const Sample& sample) { stacks.insert(sample.stack); });
  ASSERT_EQ(stacks.size(), 1u);
  const SampledStack* const stack = samples.stack(*stacks.begin());
  ASSERT_NE(stack, nullptr);
  EXPECT_EQ(stack->samples.load(), 100u);
  EXPECT_EQ(stack->block_parts.load(), 100u * SampledStack::kPartsOfBlock);
  EXPECT_EQ(stack->byte_parts.load(), 6400u * SampledStack::kPartsOfByte);
  EXPECT_GT(stack->count, 1u);
}

TEST(Samples, WhatIsFreedWithinAMillisecondIsTemporary) {
  constexpr std::uint64_t kNearlyEach = 2;  // bytes: each sample stands for one block
  for (std::uint64_t i = 1; i <= 100; ++i) {
    add_from_one_place(i * 64, kNearlyEach);
    if (i == 1) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (i <= 40) samples.remove(block_at(i * 64));
  }
  std::uint64_t most = 0, bytes = 0, of_second = 0;
  samples.for_each_stack([&](const SampledStack& stack) {
    most = std::max(most, stack.temporary_samples.load());
    of_second = std::max(of_second, stack.second_byte_parts.load() / SampledStack::kPartsOfByte);
    bytes = std::max(bytes, stack.temporary_byte_parts.load() / SampledStack::kPartsOfByte);
  });
  // A thread may be held up in between.
  EXPECT_GT(most, 20u);
  EXPECT_LT(most, 40u);
  EXPECT_EQ(bytes, most * 64);
  EXPECT_GT(of_second, bytes);
  EXPECT_LE(of_second, 40u * 64);
}

TEST(Samples, WhereEveryBlockIsSampledNoneIsToldAsTemporary) {
  add_from_one_place(64);
  EXPECT_TRUE(samples.remove(block_at(64)));
  std::uint64_t most = 0;
  samples.for_each_stack(
      [&](const SampledStack& stack) { most = std::max(most, stack.temporary_samples.load()); });
  EXPECT_EQ(most, 0u);
}

TEST(Samples, AStackThatIsNoneIsNotFound) {
  EXPECT_EQ(samples.stack(0), nullptr);
  EXPECT_EQ(samples.stack(UINT32_MAX), nullptr);
}

TEST(Samples, ThreadsAddAndRemoveAtOnce) {
  test::in_threads(4, [](std::uint64_t t) {
    // A thread with a heap has a memo of its own. One without maps one for each call, at addresses that
    // another has just unmapped, which ThreadSanitizer takes for the same memory.
    attach_this_thread();
    for (std::uint64_t i = 1; i <= 5'000; ++i) {
      samples.add({block_at(((t + 1) << 32) + i * 16), 16, 1});
      if (i % 2 == 0) samples.remove(block_at(((t + 1) << 32) + i * 16));
    }
  });
  samples.validate();
  EXPECT_EQ(live_blocks().size(), 4u * 2'500);
  EXPECT_EQ(samples.lost(), 0u);
}

}  // namespace
}  // namespace tarn::internal
