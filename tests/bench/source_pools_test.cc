// The sources' own pools, which are contestants of the benchmarks: blocks do not overlap, are aligned, keep
// what is written while other threads allocate, and nothing is lost.
#include <deque>

#include "sources/source_000_pools.h"
#include "sources/source_001_managers.h"
#include "sources/source_002_tiers.h"
#include "sources/source_003_ring.h"
#include "sources/source_004_chunks.h"
#include "support/prelude.h"

namespace tarn::bench {
namespace {

/// Counts what a pool has taken and not given back.
template <class Memory>
struct Counting {
  static void* allocate(std::size_t bytes) {
    taken += bytes;
    return Memory::allocate(bytes);
  }
  static void deallocate(void* memory, std::size_t bytes) {
    taken -= bytes;
    Memory::deallocate(memory, bytes);
  }
  static inline std::atomic<std::size_t> taken = 0;
};
using CountingMemory = Counting<SystemMemory>;
using CountingPages = Counting<SystemPages>;

/// A block with a pattern of its own in every byte: an overlap changes it.
struct Filled {
  unsigned char* block;
  std::size_t bytes;
  unsigned char pattern;

  Filled(void* memory, std::size_t size, std::size_t seed)
      : block(static_cast<unsigned char*>(memory)), bytes(size), pattern(static_cast<unsigned char>(seed)) {
    std::memset(block, pattern, bytes);
  }
  bool is_kept() const {
    for (std::size_t i = 0; i < bytes; ++i)
      if (block[i] != pattern) return false;
    return true;
  }
};

constexpr unsigned kThreads = 4;

template <class Body>
void on_threads(Body body) {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i) threads.emplace_back(body, i);
  for (std::thread& thread : threads) thread.join();
}

/// Random replacements among some hundred blocks of sizes up to `largest`.
template <class Pool>
void replace_at_random(Pool& pool, std::size_t largest, unsigned seed) {
  std::mt19937 random(seed);
  std::deque<Filled> live;
  for (unsigned i = 0; i < 5000; ++i) {
    const std::size_t bytes = 1 + random() % (random() % 16 == 0 ? largest : 256);
    void* const block = pool.allocate(bytes);
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(block) % kBlockAlignment, 0u);
    live.emplace_back(block, bytes, i * kThreads + seed);
    if (live.size() < 500) continue;
    std::swap(live.front(), live[random() % live.size()]);
    ASSERT_TRUE(live.front().is_kept());
    pool.deallocate(live.front().block);
    live.pop_front();
  }
  for (const Filled& filled : live) {
    ASSERT_TRUE(filled.is_kept());
    pool.deallocate(filled.block);
  }
}

/// Each thread frees what the one before it has allocated.
template <class Pool>
void free_on_another_thread(Pool& pool, std::size_t bytes) {
  std::vector<std::vector<Filled>> of_thread(kThreads);
  on_threads([&](unsigned index) {
    for (std::size_t i = 0; i < 3000; ++i) of_thread[index].emplace_back(pool.allocate(bytes), bytes, i);
  });
  on_threads([&](unsigned index) {
    for (const Filled& filled : of_thread[(index + 1) % kThreads]) {
      ASSERT_TRUE(filled.is_kept());
      pool.deallocate(filled.block);
    }
  });
}

template <class Pool>
void use_in_all_ways(std::size_t largest) {
  const std::size_t before = CountingMemory::taken;
  {
    Pool pool;
    replace_at_random(pool, largest, kThreads);
    on_threads([&](unsigned index) { replace_at_random(pool, largest, index); });
    free_on_another_thread(pool, 100);
  }
  EXPECT_EQ(CountingMemory::taken, before);
}

TEST(SourcePools, TheClassesOf000) {
  source_000::SizeClassPools<CountingMemory> pools;
  const auto taken_for = [&](std::size_t bytes) {
    const std::size_t before = CountingMemory::taken;
    void* const block = pools.allocate(bytes);
    const std::size_t taken = CountingMemory::taken - before;
    pools.deallocate(block);
    return taken;
  };
  EXPECT_EQ(taken_for(16), 32u);
  EXPECT_EQ(taken_for(17), 64u);
  EXPECT_EQ(taken_for(1008), 1024u);
  EXPECT_EQ(taken_for(1024), 1152u);
  EXPECT_EQ(taken_for(2048), 2304u);
  EXPECT_EQ(taken_for(4080), 4096u);
  EXPECT_EQ(taken_for(4081), 4097u);
}

TEST(SourcePools, ABlockOf000ComesBackFromItsPool) {
  source_000::SizeClassPools<CountingMemory> pools;
  void* const block = pools.allocate(100);
  pools.deallocate(block);
  void* const other = pools.allocate(200);
  EXPECT_NE(other, block);
  EXPECT_EQ(pools.allocate(110), block);
  pools.deallocate(other);
  pools.deallocate(block);
}

TEST(SourcePools, ThoseOf000GiveWholeBlocksToAnyThread) {
  use_in_all_ways<source_000::SizeClassPools<CountingMemory>>(6000);
}

TEST(SourcePools, TheBucketsOf001AreThoseOfTheTable) {
  for (std::size_t bytes = 1; bytes <= source_001::kLargest; ++bytes) {
    const std::size_t bucket = source_001::bucket_of(bytes);
    ASSERT_GE(source_001::bytes_of(bucket), bytes);
    ASSERT_TRUE(bucket == 0 || source_001::bytes_of(bucket - 1) < bytes);
  }
  EXPECT_EQ(source_001::bytes_of(31), 256u);
  EXPECT_EQ(source_001::bytes_of(32), 272u);
  EXPECT_EQ(source_001::bytes_of(48), 544u);
}

TEST(SourcePools, TheInterlockedListOf001GivesWholeBlocksToAnyThread) {
  use_in_all_ways<source_001::Manager<source_001::InterlockedList, CountingMemory>>(20'000);
}

TEST(SourcePools, TheLockedStackOf001GivesWholeBlocksToAnyThread) {
  use_in_all_ways<source_001::Manager<source_001::LockedStack, CountingMemory>>(20'000);
}

using Tiers = source_002::ThreeTiers<CountingPages>;

TEST(SourcePools, TheTiersOf002GiveWholeBlocksToAnyThread) {
  Tiers tiers;
  on_threads([&](unsigned index) { replace_at_random(tiers, 300'000, index); });
  free_on_another_thread(tiers, 100);
  EXPECT_EQ(Tiers::free_page_bytes(), CountingPages::taken) << "the threads have ended: all pages are free";
}

TEST(SourcePools, TheTiersOf002KeepAtMost64MiBOfFreePages) {
  constexpr std::size_t kBytes = 100'000, kCount = 1000;
  std::thread([] {
    std::vector<void*> blocks(kCount);
    for (void*& block : blocks) block = Tiers::allocate(kBytes);
    EXPECT_GT(CountingPages::taken, kCount * kBytes);
    for (void* block : blocks) Tiers::deallocate(block);
  }).join();
  EXPECT_EQ(Tiers::free_page_bytes(), CountingPages::taken);
  EXPECT_LE(CountingPages::taken, std::size_t{64} << 20);
}

TEST(SourcePools, FreePagesOf002AreMerged) {
  source_002::PageCache<CountingPages> pages;
  constexpr std::size_t kPart = 256 * 1024;
  char* const parts[] = {pages.allocate(kPart), pages.allocate(kPart), pages.allocate(kPart),
                         pages.allocate(kPart)};
  const std::size_t taken = CountingPages::taken;
  for (const int i : {1, 3, 0, 2}) pages.deallocate(parts[i], kPart);
  EXPECT_EQ(pages.allocate(4 * kPart), parts[0]);
  EXPECT_EQ(CountingPages::taken, taken);
  pages.deallocate(parts[0], 4 * kPart);
}

using Ring = source_003::ChunkRing<64, 4, CountingMemory>;

TEST(SourcePools, TheRingOf003WalksOnBeforeItReturnsToFreedBlocks) {
  Ring ring(2);
  std::vector<char*> blocks;
  for (int i = 0; i < 2; ++i) blocks.push_back(static_cast<char*>(ring.allocate()));
  ring.deallocate(blocks[0]);
  for (int i = 2; i < 8; ++i) blocks.push_back(static_cast<char*>(ring.allocate()));
  for (int i = 1; i < 8; ++i) EXPECT_EQ(blocks[static_cast<std::size_t>(i)], blocks[0] + 64 * i);
  EXPECT_EQ(ring.allocate(), blocks[0]);
  EXPECT_EQ(ring.allocate(), nullptr);
}

TEST(SourcePools, RunsOf003LieSideBySideInOneChunk) {
  Ring ring(3);
  auto* const first = static_cast<char*>(ring.allocate(3));
  EXPECT_EQ(ring.allocate(2), first + 4 * 64);
  EXPECT_EQ(ring.allocate(4), first + 8 * 64);
  EXPECT_EQ(ring.allocate(2), first + 6 * 64) << "the walk begins again and passes the single block";
  EXPECT_EQ(ring.allocate(2), nullptr);
  EXPECT_EQ(ring.allocate(5), nullptr) << "longer than a chunk";
  EXPECT_EQ(ring.allocate(), first + 3 * 64);
}

TEST(SourcePools, TheRingOf003LosesNoBlockInChurn) {
  const std::size_t before = CountingMemory::taken;
  {
    constexpr std::size_t kChunks = 40, kBlocksPerChunk = 32, kMost = 8;
    source_003::ChunkRing<64, kBlocksPerChunk, CountingMemory> ring(kChunks);
    std::mt19937 random(3);
    std::vector<Filled> live;
    const auto free_one = [&](std::size_t i) {
      ASSERT_TRUE(live[i].is_kept());
      ring.deallocate(live[i].block, live[i].bytes / 64);
      live[i] = live.back();
      live.pop_back();
    };
    for (std::size_t i = 0; i < 20'000; ++i) {
      const std::size_t count = 1 + random() % kMost;
      if (void* const run = ring.allocate(count))
        live.emplace_back(run, count * 64, i);
      else
        ASSERT_FALSE(live.empty());
      while (live.size() > 150 + random() % 150) free_one(random() % live.size());
    }
    while (!live.empty()) free_one(random() % live.size());
    for (std::size_t i = 0; i < kChunks; ++i) EXPECT_NE(ring.allocate(kBlocksPerChunk), nullptr);
    EXPECT_EQ(ring.allocate(), nullptr);
  }
  EXPECT_EQ(CountingMemory::taken, before);
}

struct Object {
  unsigned char bytes[100];
};
using Chunks = source_004::ThreadChunks<Object, CountingMemory>;

TEST(SourcePools, AChunkOf004IsUsedAgainWhenItsLastNodeIsBack) {
  const std::size_t before = CountingMemory::taken;
  std::thread([] {
    std::vector<Filled> nodes;
    const auto allocate_chunk = [&] {
      for (std::size_t i = 0; i < Chunks::kNodesPerChunk; ++i)
        nodes.emplace_back(Chunks::allocate(), sizeof(Object), i);
    };
    allocate_chunk();
    allocate_chunk();
    const std::size_t taken = CountingMemory::taken;
    std::thread([&] {
      for (std::size_t i = 0; i < Chunks::kNodesPerChunk; ++i) {
        EXPECT_TRUE(nodes[i].is_kept());
        Chunks::deallocate(nodes[i].block);
      }
    }).join();
    allocate_chunk();
    EXPECT_EQ(nodes.back().block, nodes[Chunks::kNodesPerChunk - 1].block);
    EXPECT_EQ(CountingMemory::taken, taken);
    for (std::size_t i = Chunks::kNodesPerChunk; i < nodes.size(); ++i) {
      EXPECT_TRUE(nodes[i].is_kept());
      Chunks::deallocate(nodes[i].block);
    }
  }).join();
  Chunks::release_free_chunks();
  EXPECT_EQ(CountingMemory::taken, before);
}

TEST(SourcePools, WhatAThreadOf004NeverTookComesBackAtItsEnd) {
  const std::size_t before = CountingMemory::taken;
  void* node = nullptr;
  std::thread([&] { node = Chunks::allocate(); }).join();
  Chunks::release_free_chunks();
  EXPECT_GT(CountingMemory::taken, before);
  Chunks::deallocate(node);
  Chunks::release_free_chunks();
  EXPECT_EQ(CountingMemory::taken, before);
}

TEST(SourcePools, NodesOf004KeepTheirBytesOnAnyThread) {
  struct Nodes {
    static void* allocate(std::size_t) { return Chunks::allocate(); }
    static void deallocate(void* node) { Chunks::deallocate(node); }
  } nodes;
  const std::size_t before = CountingMemory::taken;
  free_on_another_thread(nodes, sizeof(Object));
  on_threads([](unsigned index) {
    std::vector<Filled> live;
    for (std::size_t i = 0; i < 10'000; ++i) {
      live.emplace_back(Chunks::allocate(), sizeof(Object), i * kThreads + index);
      if (live.size() < 2000) continue;
      std::swap(live[i % live.size()], live.back());
      ASSERT_TRUE(live.back().is_kept());
      Chunks::deallocate(live.back().block);
      live.pop_back();
    }
    for (const Filled& filled : live) {
      ASSERT_TRUE(filled.is_kept());
      Chunks::deallocate(filled.block);
    }
  });
  Chunks::release_free_chunks();
  EXPECT_EQ(CountingMemory::taken, before);
}

}  // namespace
}  // namespace tarn::bench
