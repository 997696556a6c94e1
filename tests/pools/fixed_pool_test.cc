// FixedPool and SharedFixedPool: the order of blocks, runs side by side, caps, and the counts.
#include "tarn/fixed_pool.h"

#include "pool/blocks/block_pool_state.h"
#include "support/content.h"
#include "support/prelude.h"
#include "support/process_memory.h"
#include "support/sanitizer.h"
#include "support/seed.h"
#include "support/sizes.h"
#include "tarn/memory_pool.h"

namespace tarn::test {
namespace {

template <typename Pool>
class AnyFixedPool : public ::testing::Test {};
using FixedPools = ::testing::Types<FixedPool, SharedFixedPool>;
TYPED_TEST_SUITE(AnyFixedPool, FixedPools);

char* bytes(void* block) { return static_cast<char*>(block); }

template <typename Pool>
std::vector<void*> take(Pool& pool, std::size_t count) {
  std::vector<void*> blocks;
  for (std::size_t i = 0; i < count; ++i) blocks.push_back(pool.allocate());
  return blocks;
}

template <typename Pool>
void give_back(Pool& pool, const std::vector<void*>& blocks) {
  for (void* block : blocks) pool.deallocate(block);
}

/// Whether blocks that are freed are cached.
bool caches_blocks() {
  return !kAddressSanitizer && std::getenv("TARN_CHECK") == nullptr &&
         std::getenv("TARN_COUNT_CALLS") == nullptr;
}

TYPED_TEST(AnyFixedPool, HandsAChunkOutInAddressOrderWithoutGaps) {
  for (const std::size_t size : {8u, 24u, 64u, 512u, 1000u, 4096u}) {
    TypeParam pool({.block_bytes = size, .alignment = 8, .blocks_per_chunk = 200});
    const std::vector<void*> blocks = take(pool, 200);
    for (std::size_t i = 1; i < blocks.size(); ++i)
      ASSERT_EQ(bytes(blocks[i]), bytes(blocks[i - 1]) + pool.block_bytes()) << size;
    EXPECT_EQ(pool.chunk_count(), 1u);
  }
}

TYPED_TEST(AnyFixedPool, MoreBlocksThanThereAreAddressesAreRefusedAtOnce) {
  EXPECT_THROW(TypeParam({.block_bytes = 64, .initial_count = SIZE_MAX}), std::bad_alloc);
  TypeParam pool({.block_bytes = 64});
  EXPECT_EQ(pool.reserve(SIZE_MAX / 64), 0u);
  EXPECT_EQ(pool.chunk_count(), 0u);
}

TYPED_TEST(AnyFixedPool, TheBlocksFreedLastAreHadFirst) {
  if (!caches_blocks()) GTEST_SKIP() << "each call goes to the chunks there";
  TypeParam pool({.block_bytes = 32, .blocks_per_chunk = 256});
  const std::vector<void*> blocks = take(pool, 256);
  for (const std::size_t i : {7u, 200u, 3u, 199u}) pool.deallocate(blocks[i]);
  for (const std::size_t i : {199u, 3u, 200u, 7u}) EXPECT_EQ(pool.allocate(), blocks[i]);
  EXPECT_EQ(pool.live_count(), 256u);
}

TYPED_TEST(AnyFixedPool, OfManyFreedInARowTheLastAreHadFirst) {
  if (!caches_blocks()) GTEST_SKIP() << "each call goes to the chunks there";
  TypeParam pool({.block_bytes = 32, .blocks_per_chunk = 256});
  const std::vector<void*> blocks = take(pool, 256);
  for (std::size_t freed = 30; freed <= 256; freed += 13) {
    for (std::size_t i = 0; i < freed; ++i) pool.deallocate(blocks[i]);
    for (std::size_t i = freed; i-- > freed - 30;) ASSERT_EQ(pool.allocate(), blocks[i]) << freed;
    take(pool, freed - 30);
    ASSERT_EQ(pool.live_count(), 256u);
  }
}

// Whatever the front of freed blocks knows and the chunks do not.
TYPED_TEST(AnyFixedPool, EveryFreedBlockIsFoundByBlocksAndRunsOfAFullPool) {
  TypeParam pool({.block_bytes = 16, .blocks_per_chunk = 300, .largest_count = 900});
  std::vector<void*> blocks = take(pool, 900);
  std::sort(blocks.begin(), blocks.end());
  Random random(2);
  for (int round = 0; round < 300; ++round) {
    const std::size_t chunk = random.below(3) * 300, count = 1 + random.below(140);
    const std::size_t first = chunk + random.below(300 - count);
    for (std::size_t i = 0; i < count; ++i)
      pool.deallocate(blocks[first + (round % 2 == 0 ? i : count - 1 - i)]);
    EXPECT_EQ(pool.usable_count(), count);
    if (round % 3 == 0) {
      ASSERT_EQ(pool.allocate_run(count), blocks[first]);
    } else {
      std::vector<void*> again = take(pool, count);
      std::sort(again.begin(), again.end());
      ASSERT_TRUE(
          std::equal(again.begin(), again.end(), blocks.begin() + static_cast<std::ptrdiff_t>(first)));
    }
    ASSERT_EQ(pool.allocate(), nullptr);
  }
}

TYPED_TEST(AnyFixedPool, SkipsChunksThatHaveNoUsableBlock) {
  TypeParam pool({.block_bytes = 64, .blocks_per_chunk = 64, .largest_count = 64 * 300});
  std::vector<void*> blocks = take(pool, 64 * 300);
  ASSERT_EQ(pool.allocate(), nullptr);
  std::sort(blocks.begin(), blocks.end());
  for (const std::size_t index : {std::size_t{64 * 299 + 5}, std::size_t{0}, std::size_t{64 * 130 + 63}}) {
    pool.deallocate(blocks[index]);
    EXPECT_EQ(pool.allocate(), blocks[index]);
    EXPECT_EQ(pool.allocate(), nullptr);
  }
}

TYPED_TEST(AnyFixedPool, AlignsEveryBlockAndRoundsItsSizeUpToTheAlignment) {
  for (std::size_t alignment = 1; alignment <= 65536; alignment *= 2)
    for (const std::size_t size : {std::size_t{1}, alignment - 1, alignment, alignment + 1, 3 * alignment}) {
      if (size == 0) continue;
      TypeParam pool({.block_bytes = size, .alignment = alignment, .blocks_per_chunk = 70});
      EXPECT_GE(pool.block_bytes(), size);
      EXPECT_EQ(pool.block_bytes() % alignment, 0u);
      EXPECT_LT(pool.block_bytes(), size + std::max<std::size_t>(alignment, 8));
      const std::vector<void*> blocks = take(pool, 150);  // three chunks, of different colours
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        ASSERT_EQ(address(blocks[i]) % alignment, 0u) << size;
        fill(blocks[i], size, i);
      }
      for (std::size_t i = 0; i < blocks.size(); ++i) ASSERT_TRUE(holds(blocks[i], size, i));
      give_back(pool, blocks);
      EXPECT_EQ(pool.live_count(), 0u);
    }
}

TYPED_TEST(AnyFixedPool, RefusesOptionsThatMakeNoPool) {
  EXPECT_THROW(TypeParam({.block_bytes = 0}), std::bad_alloc);
  EXPECT_THROW(TypeParam({.block_bytes = 262145}), std::bad_alloc);
  EXPECT_THROW(TypeParam({.block_bytes = 64, .alignment = 0}), std::bad_alloc);
  EXPECT_THROW(TypeParam({.block_bytes = 64, .alignment = 24}), std::bad_alloc);
  EXPECT_THROW(TypeParam({.block_bytes = 64, .alignment = 131072}), std::bad_alloc);
  EXPECT_THROW(TypeParam({.block_bytes = 64, .blocks_per_chunk = 32769}), std::bad_alloc);
  EXPECT_THROW(TypeParam({.block_bytes = 64, .largest_count = 10, .initial_count = 11}), std::bad_alloc);
}

TYPED_TEST(AnyFixedPool, HasTheLargestBlocksAndTheLargestChunks) {
  TypeParam large({.block_bytes = 262144, .blocks_per_chunk = 3});
  std::vector<void*> blocks = take(large, 7);
  for (std::size_t i = 0; i < blocks.size(); ++i) fill(blocks[i], 262144, i);
  for (std::size_t i = 0; i < blocks.size(); ++i) EXPECT_TRUE(holds(blocks[i], 262144, i));
  give_back(large, blocks);
  TypeParam many({.block_bytes = 64, .blocks_per_chunk = 32768});
  blocks = take(many, 40000);
  EXPECT_EQ(many.chunk_count(), 2u);
  EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), 40000u);
  many.deallocate_run(many.allocate_run(32768 - 7232), 32768 - 7232);  // what the second chunk has left
  EXPECT_EQ(many.chunk_count(), 2u);
  give_back(many, blocks);
}

TYPED_TEST(AnyFixedPool, RunsAreSideBySideOfEveryLengthUpToAChunk) {
  for (const std::size_t per_chunk : {1u, 63u, 64u, 65u, 130u, 1000u}) {
    TypeParam pool({.block_bytes = 40, .alignment = 8, .blocks_per_chunk = per_chunk});
    for (std::size_t count = 1; count <= per_chunk; count += count < 140 ? 1 : 97) {
      std::vector<void*> runs;
      for (int i = 0; i < 5; ++i) {
        void* const run = pool.allocate_run(count);
        ASSERT_NE(run, nullptr) << count << " of " << per_chunk;
        fill(run, count * 40, count + static_cast<std::size_t>(i));
        runs.push_back(run);
      }
      EXPECT_EQ(pool.live_count(), 5 * count);
      for (std::size_t i = 0; i < runs.size(); ++i) {
        ASSERT_TRUE(holds(runs[i], count * 40, count + i)) << count << " of " << per_chunk;
        pool.deallocate_run(runs[i], count);
      }
    }
    void* const whole = pool.allocate_run(per_chunk);
    EXPECT_NE(whole, nullptr);
    pool.deallocate_run(whole, per_chunk);
    EXPECT_EQ(pool.live_count(), 0u);
  }
}

TYPED_TEST(AnyFixedPool, RunsOfNoneAndOfMoreThanAChunkAreRefused) {
  TypeParam pool({.block_bytes = 64, .blocks_per_chunk = 100});
  EXPECT_EQ(pool.allocate_run(0), nullptr);
  EXPECT_EQ(pool.allocate_run(101), nullptr);
  EXPECT_EQ(pool.allocate_run(SIZE_MAX), nullptr);
  EXPECT_EQ(pool.allocate_run(std::size_t{1} << 32), nullptr);
  EXPECT_EQ(pool.capacity(), 0u) << "nothing was made for it";
  void* const block = pool.allocate();
  EXPECT_EQ(pool.allocate_run(0), nullptr);
  pool.deallocate_run(block, 0);
  EXPECT_EQ(pool.live_count(), 1u) << "none of its blocks is none";
  pool.deallocate(block);
  pool.deallocate(nullptr);
  pool.deallocate_run(nullptr, 3);
}

TYPED_TEST(AnyFixedPool, ARunFillsAHoleOfItsLengthAndNoSmallerOne) {
  TypeParam pool({.block_bytes = 16, .blocks_per_chunk = 1000, .largest_count = 1000});
  const std::vector<void*> blocks = take(pool, 1000);
  // Holes of 1, 2, 3, ... blocks, each behind a live one; a hole of n is the first where n fit.
  std::size_t at = 0;
  std::vector<std::pair<std::size_t, std::size_t>> holes;
  for (std::size_t length = 1; at + length < 1000; ++length) {
    pool.deallocate_run(blocks[at], length);
    holes.push_back({at, length});
    at += length + 1;
  }
  for (auto hole = holes.rbegin(); hole != holes.rend(); ++hole) {
    EXPECT_EQ(pool.allocate_run(hole->second + 1), nullptr) << "longer holes are filled";
    EXPECT_EQ(pool.allocate_run(hole->second), blocks[hole->first]) << hole->second;
  }
}

TYPED_TEST(AnyFixedPool, ARunIsFoundAgainInAChunkThatWasSearchedInVain) {
  TypeParam pool({.block_bytes = 16, .blocks_per_chunk = 200, .largest_count = 600});
  std::vector<void*> blocks = take(pool, 600);
  std::sort(blocks.begin(), blocks.end());
  for (const std::size_t count : {2u, 5u, 64u, 65u, 100u, 200u}) {
    for (std::size_t i = 0; i < 600; i += 2) pool.deallocate(blocks[i]);
    EXPECT_EQ(pool.allocate_run(count), nullptr) << "every other block is live";
    const std::size_t chunk = count % 3 * 200;
    for (std::size_t i = 1; i < 200; i += 2) pool.deallocate(blocks[chunk + i]);
    void* const run = pool.allocate_run(count);
    EXPECT_GE(run, blocks[chunk]);
    EXPECT_LE(run, blocks[chunk + 200 - count]);
    EXPECT_EQ(pool.allocate_run(201), nullptr);
    pool.clear();
    EXPECT_EQ(pool.live_count(), 0u);
    ASSERT_EQ(take(pool, 600).size(), 600u);
  }
}

TYPED_TEST(AnyFixedPool, BlocksOfARunMayBeGivenBackOneByOneAndSingleOnesAsARun) {
  TypeParam pool({.block_bytes = 100, .blocks_per_chunk = 300});
  char* const run = bytes(pool.allocate_run(130));
  for (std::size_t i = 0; i < 130; ++i) pool.deallocate(run + i * pool.block_bytes());
  EXPECT_EQ(pool.live_count(), 0u);
  pool.clear();
  const std::vector<void*> blocks = take(pool, 300);
  pool.deallocate_run(blocks[10], 200);
  EXPECT_EQ(pool.live_count(), 100u);
  pool.deallocate_run(blocks[0], 10);
  pool.deallocate_run(blocks[210], 90);
  EXPECT_EQ(pool.live_count(), 0u);
}

TYPED_TEST(AnyFixedPool, ARunThatWasFreedIsHadAgainByARequestOfItsLength) {
  if (!caches_blocks()) GTEST_SKIP() << "each call goes to the chunks there";
  TypeParam pool({.block_bytes = 64, .blocks_per_chunk = 300});
  for (const std::size_t count : {2u, 3u, 63u, 64u}) {
    void* const first = pool.allocate_run(count);
    void* const between = pool.allocate_run(1);
    void* const second = pool.allocate_run(count);
    pool.deallocate_run(first, count);
    pool.deallocate_run(second, count);
    EXPECT_EQ(pool.live_count(), 1u);
    EXPECT_EQ(pool.allocate_run(count), second);
    EXPECT_EQ(pool.allocate_run(count), first);
    EXPECT_EQ(pool.live_count(), 2 * count + 1);
    for (void* const run : {first, second}) pool.deallocate_run(run, count);
    pool.deallocate_run(between, 1);
    EXPECT_EQ(pool.live_count(), 0u);
    internal::validate(detail::BlockPoolAccess::state(pool));
  }
}

TYPED_TEST(AnyFixedPool, RunsThatWereFreedServeBlocksAndRunsOfAnyLength) {
  TypeParam pool({.block_bytes = 64, .blocks_per_chunk = 200, .largest_count = 200});
  const auto fill_with = [&](std::size_t count) {
    std::vector<void*> runs;
    while (void* const run = pool.allocate_run(count)) runs.push_back(run);
    // Where they lie is open, so that rests may be left between them; but one block, and all, fit everywhere.
    EXPECT_LE(runs.size(), 200 / count) << count;
    EXPECT_GE(runs.size() * (count == 1 || count == 200 ? 1 : 2), 200 / count) << count;
    internal::validate(detail::BlockPoolAccess::state(pool));
    return runs;
  };
  for (const std::size_t before : {1u, 2u, 7u, 64u, 65u, 200u})
    for (const std::size_t after : {1u, 2u, 7u, 64u, 65u, 200u}) {
      for (void* const run : fill_with(before)) pool.deallocate_run(run, before);
      for (void* const run : fill_with(after)) pool.deallocate_run(run, after);
      EXPECT_EQ(pool.usable_count(), 200u);
    }
}

TYPED_TEST(AnyFixedPool, BlocksTakenOutOfAFreedRunAreNotHandedOutTwice) {
  TypeParam pool({.block_bytes = 64, .blocks_per_chunk = 128, .largest_count = 128});
  char* const first = bytes(pool.allocate_run(64));
  char* const second = bytes(pool.allocate_run(64));
  pool.deallocate_run(first, 64);
  std::vector<void*> blocks = take(pool, 10);
  for (void* const block : blocks) EXPECT_TRUE(block >= first && block < second);
  EXPECT_EQ(pool.allocate_run(64), nullptr);
  give_back(pool, blocks);
  EXPECT_EQ(pool.allocate_run(64), first) << "it is whole again";
  pool.deallocate_run(first, 64);
  pool.deallocate_run(second, 64);
  EXPECT_EQ(pool.allocate_run(128), first);
}

TYPED_TEST(AnyFixedPool, AWalkSeesNoRunThatItsVisitFreed) {
  TypeParam pool(64);
  std::vector<void*> runs;
  for (int i = 0; i < 40; ++i) runs.push_back(pool.allocate_run(3));
  pool.deallocate_run(pool.allocate_run(3), 3);
  std::set<void*> freed;
  std::size_t visits = 0;
  pool.for_each_live([&](void* block) {
    EXPECT_FALSE(freed.contains(block));
    if (++visits != 1) return;
    for (std::size_t i = 0; i < runs.size(); i += 2) {
      if (runs[i] <= block && block < static_cast<char*>(runs[i]) + 3 * 64) continue;
      for (std::size_t k = 0; k < 3; ++k) freed.insert(static_cast<char*>(runs[i]) + 64 * k);
      pool.deallocate_run(runs[i], 3);
    }
  });
  EXPECT_LE(pool.live_count(), 63u);
  EXPECT_EQ(visits, pool.live_count());
}

TYPED_TEST(AnyFixedPool, RunsThatWereFreedEndWithTheirChunksAndThePool) {
  TypeParam pool({.block_bytes = 64, .blocks_per_chunk = 100});
  for (int round = 0; round < 3; ++round) {
    std::vector<void*> runs;
    for (std::size_t i = 0; i < 30; ++i) runs.push_back(pool.allocate_run(30));
    for (void* const run : runs) pool.deallocate_run(run, 30);
    if (round == 1) {
      pool.clear();
    } else {
      pool.release_unused();
      EXPECT_EQ(pool.capacity(), 0u);
    }
    internal::validate(detail::BlockPoolAccess::state(pool));
    void* const run = pool.allocate_run(30);
    fill(run, std::size_t{30} * 64, 1);
    EXPECT_TRUE(holds(run, std::size_t{30} * 64, 1));
    pool.deallocate_run(run, 30);
  }
}

TYPED_TEST(AnyFixedPool, ACapGivesNullAndTheFreedBlockIsHadAgain) {
  for (const std::size_t most :
       {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{65}, std::size_t{150}}) {
    TypeParam pool({.block_bytes = 64, .blocks_per_chunk = 64, .largest_count = most});
    const std::vector<void*> blocks = take(pool, most);
    EXPECT_EQ(std::count(blocks.begin(), blocks.end(), nullptr), 0);
    EXPECT_EQ(pool.allocate(), nullptr);
    EXPECT_EQ(pool.allocate_run(2), nullptr);
    EXPECT_EQ(pool.capacity(), most) << "the last chunk is as large as the cap lets it be";
    EXPECT_EQ(pool.usable_count(), 0u);
    pool.deallocate(blocks[most / 2]);
    EXPECT_EQ(pool.allocate(), blocks[most / 2]);
    give_back(pool, blocks);
  }
  TypeParam none({.block_bytes = 64, .largest_count = 0});
  EXPECT_EQ(none.allocate(), nullptr);
}

TYPED_TEST(AnyFixedPool, ACapThrowsWhereItIsAskedTo) {
  TypeParam pool({.block_bytes = 64, .largest_count = 3, .at_cap = AtCap::kThrow});
  const std::vector<void*> blocks = take(pool, 3);
  EXPECT_THROW(static_cast<void>(pool.allocate()), std::bad_alloc);
  EXPECT_THROW(static_cast<void>(pool.allocate_run(2)), std::bad_alloc);
  void* more[2] = {};
  EXPECT_EQ(pool.allocate_batch(2, more), 0u) << "a batch never throws";
  EXPECT_EQ(pool.live_count(), 3u);
  give_back(pool, blocks);
}

template <typename Pool>
struct Refusals {
  Pool* pool = nullptr;
  std::vector<void*> to_free;
  int calls = 0;

  static void note(void* context) {
    auto& self = *static_cast<Refusals*>(context);
    ++self.calls;
    for (void* block : self.to_free) self.pool->deallocate(block);
    self.to_free.clear();
  }
};

TYPED_TEST(AnyFixedPool, TheHookIsCalledOncePerRefusal) {
  for (const AtCap at_cap : {AtCap::kReturnNull, AtCap::kThrow}) {
    Refusals<TypeParam> refusals;
    TypeParam pool({.block_bytes = 64,
                    .largest_count = 3,
                    .at_cap = at_cap,
                    .on_refusal = Refusals<TypeParam>::note,
                    .context = &refusals});
    const std::vector<void*> blocks = take(pool, 3);
    EXPECT_EQ(refusals.calls, 0);
    for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{1000000}}) {
      refusals.calls = 0;
      try {
        EXPECT_EQ(count == 1 ? pool.allocate() : pool.allocate_run(count), nullptr);
        EXPECT_EQ(at_cap, AtCap::kReturnNull);
      } catch (const std::bad_alloc&) {
        EXPECT_EQ(at_cap, AtCap::kThrow);
      }
      EXPECT_EQ(refusals.calls, 1) << count;
    }
    void* more[2];
    EXPECT_EQ(pool.allocate_batch(2, more), 0u);
    EXPECT_EQ(refusals.calls, 2);
    give_back(pool, blocks);
  }
}

TYPED_TEST(AnyFixedPool, WhatTheHookFreesIsForTheNextCall) {
  Refusals<TypeParam> refusals;
  TypeParam pool(
      {.block_bytes = 64, .largest_count = 3, .on_refusal = Refusals<TypeParam>::note, .context = &refusals});
  refusals.pool = &pool;
  const std::vector<void*> blocks = take(pool, 3);
  refusals.to_free = {blocks[1], blocks[2]};
  EXPECT_EQ(pool.allocate(), nullptr);
  EXPECT_EQ(pool.live_count(), 1u);
  EXPECT_EQ(pool.allocate_run(2), blocks[1]);
  EXPECT_EQ(refusals.calls, 1);
}

TYPED_TEST(AnyFixedPool, ABatchGivesWhatThereIs) {
  TypeParam pool({.block_bytes = 64, .blocks_per_chunk = 50, .largest_count = 120});
  std::vector<void*> blocks(201, nullptr);
  EXPECT_EQ(pool.allocate_batch(0, blocks.data()), 0u);
  EXPECT_EQ(pool.allocate_batch(70, blocks.data()), 70u);
  EXPECT_EQ(blocks[70], nullptr) << "one more than asked for was written";
  EXPECT_EQ(pool.allocate_batch(70, blocks.data() + 70), 50u);
  EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.begin() + 120).size(), 120u);
  blocks.resize(120);
  blocks.push_back(nullptr);
  pool.deallocate_batch(blocks.data(), blocks.size());
  EXPECT_EQ(pool.live_count(), 0u);
}

TYPED_TEST(AnyFixedPool, ReserveCountsUsableBlocksAndStopsAtTheCap) {
  TypeParam pool({.block_bytes = 64, .blocks_per_chunk = 10, .largest_count = 55, .initial_count = 11});
  EXPECT_EQ(pool.usable_count(), 20u);
  EXPECT_EQ(pool.reserve(5), 20u) << "they are there";
  void* const block = pool.allocate();
  EXPECT_EQ(pool.reserve(20), 29u);
  EXPECT_EQ(pool.prewarm(30), 39u);
  EXPECT_EQ(pool.reserve(1000), 54u);
  EXPECT_EQ(pool.capacity(), 55u);
  EXPECT_EQ(pool.live_count(), 1u);
  pool.deallocate(block);
}

/// \returns how many of the blocks have memory behind their first byte.
std::size_t count_backed(const std::vector<void*>& blocks) {
  return static_cast<std::size_t>(std::count_if(blocks.begin(), blocks.end(), [](void* block) {
    unsigned char backed = 0;
    const std::uintptr_t page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const std::uintptr_t page = reinterpret_cast<std::uintptr_t>(block) & ~(page_bytes - 1);
    EXPECT_EQ(mincore(reinterpret_cast<void*>(page), 1, &backed), 0);
    return (backed & 1) != 0;
  }));
}

TYPED_TEST(AnyFixedPool, PrewarmBacksItsBlocksWithMemoryAndReserveDoesNot) {
  constexpr std::size_t kCount = 16 * kMiB / 4096;
  tarn::trim();
  TypeParam pool({.block_bytes = 4096});
  pool.reserve(kCount);
  std::vector<void*> blocks = take(pool, kCount);
  EXPECT_LT(count_backed(blocks), kCount / 4);
  for (void* block : blocks) pool.deallocate(block);
  pool.prewarm(kCount);
  blocks = take(pool, kCount);
  EXPECT_EQ(count_backed(blocks), kCount);
  for (void* block : blocks) pool.deallocate(block);
}

TYPED_TEST(AnyFixedPool, ReleaseUnusedGivesChunksWithoutLiveBlocksBack) {
  TypeParam pool({.block_bytes = 1024, .blocks_per_chunk = 64});
  std::vector<void*> blocks = take(pool, 640);
  EXPECT_EQ(pool.release_unused(), 0u);
  std::sort(blocks.begin(), blocks.end());
  for (std::size_t i = 0; i < 640; ++i)
    if (i % 128 != 70) pool.deallocate(blocks[i]);
  EXPECT_GT(pool.release_unused(), 5 * 64 * std::size_t{1024} - 1);
  EXPECT_EQ(pool.chunk_count(), 5u);
  EXPECT_EQ(pool.live_count(), 5u);
  for (std::size_t i = 70; i < 640; i += 128) {
    EXPECT_TRUE(pool.owns(blocks[i]));
    EXPECT_EQ(pool.owns(blocks[i - 60]), pool.owns(blocks[i]) && (i - 60) / 64 == i / 64);
  }
  const std::vector<void*> again = take(pool, 5 * 63);
  EXPECT_EQ(pool.chunk_count(), 5u) << "what is left is whole";
  EXPECT_EQ(pool.usable_count(), 0u);
  pool.clear();
  pool.release_unused();
  EXPECT_EQ(pool.capacity(), 0u);
  EXPECT_NE(pool.allocate(), nullptr);
}

TYPED_TEST(AnyFixedPool, ClearEndsAllBlocksAndKeepsTheChunks) {
  TypeParam pool({.block_bytes = 80, .blocks_per_chunk = 65});
  for (int round = 0; round < 5; ++round) {
    take(pool, 650);
    EXPECT_EQ(pool.live_count(), 650u);
    pool.clear();
    EXPECT_EQ(pool.live_count(), 0u);
    EXPECT_EQ(pool.usable_count(), 650u);
    EXPECT_EQ(pool.chunk_count(), 10u);
  }
  TypeParam untouched(64);
  untouched.clear();
  EXPECT_NE(untouched.allocate(), nullptr);
}

TYPED_TEST(AnyFixedPool, OwnsItsChunksAndNothingElse) {
  TypeParam pool(64), other(64);
  void* const block = pool.allocate();
  int local = 0;
  EXPECT_TRUE(pool.owns(block));
  EXPECT_TRUE(pool.owns(bytes(block) + 63));
  EXPECT_FALSE(other.owns(block));
  EXPECT_FALSE(pool.owns(other.allocate()));
  EXPECT_FALSE(pool.owns(&local));
  EXPECT_FALSE(pool.owns(nullptr));
  EXPECT_FALSE(pool.owns(&pool));
  void* const general = tarn::allocate(64);
  EXPECT_FALSE(pool.owns(general));
  tarn::deallocate(general);
  EXPECT_EQ(pool.allocate_run(pool.blocks_per_chunk() + 1), nullptr);
  // A search in vain marks the chunk; it is the pool's all the same.
  while (pool.usable_count() != 0) static_cast<void>(pool.allocate());
  pool.deallocate(block);
  EXPECT_TRUE(pool.owns(pool.allocate_run(2)));
  EXPECT_TRUE(pool.owns(block));
}

TYPED_TEST(AnyFixedPool, TheGeneralPoolTakesItsBlocksToo) {
  TypeParam pool({.block_bytes = 72, .blocks_per_chunk = 100, .largest_count = 300});
  for (int round = 0; round < 3; ++round) {
    const std::vector<void*> blocks = take(pool, 250);
    EXPECT_EQ(tarn::usable_size(blocks[7]), pool.block_bytes());
    for (void* block : blocks) tarn::deallocate(block);
    EXPECT_EQ(pool.live_count(), 0u);
    EXPECT_EQ(pool.capacity(), 300u);
    // Also of a chunk that was searched in vain.
    std::vector<void*> all = take(pool, 300);
    std::sort(all.begin(), all.end());
    for (std::size_t i = 0; i < 300; i += 2) pool.deallocate(all[i]);
    EXPECT_EQ(pool.allocate_run(2), nullptr);
    for (std::size_t i = 1; i < 300; i += 2) tarn::deallocate(all[i]);
    EXPECT_EQ(pool.live_count(), 0u);
  }
}

TYPED_TEST(AnyFixedPool, ReallocationMovesABlockToTheGeneralPool) {
  TypeParam pool(100);
  void* const block = pool.allocate();
  fill(block, 100, 5);
  EXPECT_EQ(tarn::reallocate(block, 60), block);
  void* const moved = tarn::reallocate(block, 5000);
  EXPECT_FALSE(pool.owns(moved));
  EXPECT_EQ(pool.live_count(), 0u);
  EXPECT_TRUE(holds(moved, 60, 100, 5));
  tarn::deallocate(moved);
}

TYPED_TEST(AnyFixedPool, NothingIsWrittenIntoFreeBlocks) {
  if (kAddressSanitizer) GTEST_SKIP() << "free blocks may not be read there";
  TypeParam pool({.block_bytes = 32, .blocks_per_chunk = 500});
  std::vector<void*> blocks = take(pool, 2000);
  for (std::size_t i = 0; i < blocks.size(); ++i) fill(blocks[i], 32, i);
  give_back(pool, blocks);
  pool.deallocate_run(pool.allocate_run(100), 100);
  for (std::size_t i = 0; i < blocks.size(); ++i) EXPECT_TRUE(holds(blocks[i], 32, i));
}

// A pool that searched its blocks would touch them.
TYPED_TEST(AnyFixedPool, AllocationAndFreeingTouchNoOtherBlock) {
  if (kSanitizer) GTEST_SKIP() << "a sanitizer's own memory comes and goes";
  TypeParam pool({.block_bytes = 4096, .blocks_per_chunk = 4096});
  pool.reserve(400 * kMiB / 4096);
  const std::size_t before = resident_bytes();
  const std::vector<void*> blocks = take(pool, 100 * kMiB / 4096);
  for (std::size_t i = 0; i < blocks.size(); i += 2) pool.deallocate(blocks[i]);
  for (int i = 0; i < 1000; ++i) EXPECT_NE(pool.allocate_run(2), nullptr);
  EXPECT_LT(resident_bytes(), before + 2 * kMiB);
}

TEST(FixedPoolInstances, ManyPoolsLiveSideBySide) {
  std::vector<std::unique_ptr<FixedPool>> pools;
  std::vector<void*> blocks;
  for (std::size_t i = 0; i < 500; ++i) {
    pools.push_back(std::make_unique<FixedPool>(1 + i));
    fill(blocks.emplace_back(pools[i]->allocate()), 1 + i, i);
  }
  for (std::size_t i = 0; i < pools.size(); ++i) {
    EXPECT_TRUE(holds(blocks[i], 1 + i, i));
    EXPECT_TRUE(pools[i]->owns(blocks[i]));
    EXPECT_FALSE(pools[(i + 1) % 500]->owns(blocks[i]));
  }
}

}  // namespace
}  // namespace tarn::test
