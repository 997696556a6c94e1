// Sensitive pools: after a free no copy of the contents is found anywhere in the process's memory, and core
// files have none of a live block.
#include "tarn/sensitive.h"

#include "fault/fault_injection.h"
#include "support/child.h"
#include "support/prelude.h"
#include "support/process_memory.h"
#include "support/sanitizer.h"
#include "support/secret.h"
#include "support/sizes.h"
#include "support/threads.h"
#include "tarn/allocator.h"
#include "tarn/arena.h"
#include "tarn/buffer_pool.h"
#include "tarn/fixed_pool.h"
#include "tarn/handle_pool.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/object_pool.h"
#include "tarn/pools.h"

namespace tarn::test {
namespace {

std::uint64_t next_number() {
  static std::uint64_t number = 0;
  return ++number;
}

class Sensitive : public ::testing::Test {
 protected:
  // A sanitizer keeps copies of its own, and forbids to look at what is free.
  void expect_copies(std::size_t count, const char* when) const {
    if (kSanitizer) return;
    EXPECT_EQ(secret_.count_in_process(), count) << when;
  }
  void expect_none(const char* when) const { expect_copies(0, when); }
  void* filled(void* block, std::size_t bytes) const {
    if (block != nullptr) secret_.write(block, bytes);
    return block;
  }

  const Secret secret_{next_number()};
};

// -- Fixed pools

template <typename Pool>
class SensitiveFixed : public Sensitive {
 protected:
  static constexpr std::size_t kBlock = 64, kCopies = kBlock / Secret::kBytes;

  void* allocate() { return filled(pool_.allocate(), kBlock); }
  void* allocate_run(std::size_t count) { return filled(pool_.allocate_run(count), count * kBlock); }

  Pool pool_{FixedPoolOptions{.name = "keys", .block_bytes = kBlock, .sensitive = true}};
};
using FixedPools = ::testing::Types<FixedPool, SharedFixedPool>;
TYPED_TEST_SUITE(SensitiveFixed, FixedPools);

TYPED_TEST(SensitiveFixed, ABlockIsWipedWhenItIsFreed) {
  void* const one = this->allocate();
  void* const other = this->allocate();
  this->expect_copies(2 * this->kCopies, "live");
  this->pool_.deallocate(one);
  this->expect_copies(this->kCopies, "one is freed");
  tarn::deallocate(other);
  this->expect_none("the other is freed by its address alone");
  EXPECT_EQ(this->pool_.live_count(), 0u);
}

TYPED_TEST(SensitiveFixed, RunsAreWipedInWholeAndInParts) {
  void* const whole = this->allocate_run(7);
  void* const parts = this->allocate_run(5);
  this->pool_.deallocate_run(whole, 7);
  this->expect_copies(5 * this->kCopies, "the other run is live");
  this->pool_.deallocate_run(parts, 5);
  this->expect_none("no run is live");
  void* const again = this->allocate_run(7);
  this->pool_.deallocate_run(again, 7);
  this->expect_none("a run that was noted as freed");
  this->pool_.deallocate_run(this->allocate_run(1), 1);
  this->expect_none("a run of one");
}

TYPED_TEST(SensitiveFixed, BatchesAreWiped) {
  for (const std::size_t count : {std::size_t{3}, std::size_t{200}}) {
    std::vector<void*> blocks(count);
    ASSERT_EQ(this->pool_.allocate_batch(count, blocks.data()), count);
    for (void* block : blocks) this->filled(block, this->kBlock);
    this->expect_copies(count * this->kCopies, "live");
    this->pool_.deallocate_batch(blocks.data(), count);
    this->expect_none("freed");
  }
}

TYPED_TEST(SensitiveFixed, ClearAndTheEndWipeWhatIsLive) {
  for (int i = 0; i < 3000; ++i) this->allocate();
  this->pool_.clear();
  this->expect_none("clear");
  for (int i = 0; i < 100; ++i) this->pool_.deallocate(this->allocate());
  {
    TypeParam other(FixedPoolOptions{.block_bytes = 1000, .sensitive = true});
    for (int i = 0; i < 300; ++i) this->filled(other.allocate(), 1000);
    this->filled(other.allocate_run(9), 9000);
  }
  this->expect_none("the end");
}

TYPED_TEST(SensitiveFixed, ABlockThatGrowsMovesToSensitiveMemory) {
  char* const moved = static_cast<char*>(tarn::reallocate(this->allocate(), 5000));
  this->expect_copies(this->kCopies, "moved, and no copy stays behind");
  EXPECT_TRUE(this->secret_.is_at(moved));
  this->filled(moved, 4992);
  void* const shrunk = tarn::reallocate(moved, 4000);
  this->expect_copies(4000 / Secret::kBytes, "its end is gone");
  tarn::deallocate(shrunk);
  this->expect_none("freed");
  EXPECT_EQ(this->pool_.live_count(), 0u);
}

TYPED_TEST(SensitiveFixed, ABlockThatShrinksLosesItsEnd) {
  void* const block = this->allocate();
  EXPECT_EQ(tarn::reallocate(block, 16), block);
  this->expect_copies(1, "of four");
  this->pool_.deallocate(block);
}

// -- Typed pools

struct Key {
  static constexpr std::size_t kBytes = 96;

  Key(const Secret& its_secret, bool fails) : secret(&its_secret) {
    secret->write(bytes, sizeof bytes);
    if (fails) throw std::runtime_error("no key");
  }
  ~Key() { whole_ones += secret->is_at(bytes) ? 1 : 0; }

  static inline std::atomic<int> whole_ones{0};  // as their destructors found them
  const Secret* secret;
  unsigned char bytes[kBytes];
};

template <typename Pool>
class SensitiveTyped : public Sensitive {
 protected:
  static constexpr std::size_t kCopies = Key::kBytes / Secret::kBytes;

  SensitiveTyped() { Key::whole_ones = 0; }
  static ObjectPoolOptions options(AtPoolEnd at_end = AtPoolEnd::kReport) {
    return {.name = "keys", .at_end = at_end, .sensitive = true};
  }
};
using TypedPools = ::testing::Types<ObjectPool<Key>, ObjectPool<Key, LiveObjects::kListed>, HandlePool<Key>>;
TYPED_TEST_SUITE(SensitiveTyped, TypedPools);

TYPED_TEST(SensitiveTyped, AnObjectIsWipedBehindItsDestructor) {
  TypeParam pool(this->options());
  const auto one = pool.create(this->secret_, false), other = pool.create(this->secret_, false);
  this->expect_copies(2 * this->kCopies, "live");
  pool.destroy(one);
  this->expect_copies(this->kCopies, "one is destroyed");
  pool.destroy(other);
  this->expect_none("both are destroyed");
  EXPECT_EQ(Key::whole_ones, 2);
  EXPECT_EQ(pool.live_count(), 0u);
}

TYPED_TEST(SensitiveTyped, WhatAConstructorLeftIsWiped) {
  TypeParam pool(this->options());
  EXPECT_THROW(static_cast<void>(pool.create(this->secret_, true)), std::runtime_error);
  this->expect_none("no object");
  EXPECT_EQ(pool.live_count(), 0u);
}

TYPED_TEST(SensitiveTyped, ObjectsThatEndWithTheirPoolAreWipedBehindTheirDestructors) {
  {
    TypeParam pool(this->options(AtPoolEnd::kDestroy));
    for (int i = 0; i < 1000; ++i) static_cast<void>(pool.create(this->secret_, false));
  }
  this->expect_none("the end");
  EXPECT_EQ(Key::whole_ones, 1000);
}

TEST_F(Sensitive, ObjectsThatOutliveTheirPoolAreWipedWhenTheyAreFreed) {
  Key* one = nullptr;
  Key* other = nullptr;
  {
    ObjectPool<Key> pool({.at_end = AtPoolEnd::kHandOver, .sensitive = true});
    HandlePool<Key> handles({.at_end = AtPoolEnd::kHandOver, .sensitive = true});
    one = pool.create(secret_, false);
    other = handles.get(handles.create(secret_, false));
  }
  expect_copies(2 * Key::kBytes / Secret::kBytes, "handed over");
  for (Key* key : {one, other}) {
    key->~Key();
    tarn::deallocate(key);
  }
  expect_none("freed");
}

// -- Buffer pools

TEST_F(Sensitive, BuffersOfAllSizesAreWiped) {
  BufferPool pool({.name = "packets", .sensitive = true});
  for (const std::size_t bytes : {64u, 1000u, 16'384u, 100'000u}) {
    const std::size_t copies = bytes / Secret::kBytes;
    void* const by_pool = filled(pool.allocate(bytes), copies * Secret::kBytes);
    void* const by_size = filled(pool.allocate(bytes), copies * Secret::kBytes);
    void* const by_address = filled(pool.allocate(bytes), copies * Secret::kBytes);
    expect_copies(3 * copies, "live");
    pool.deallocate(by_pool);
    pool.deallocate(by_size, bytes);
    tarn::deallocate(by_address);
    expect_none("freed");
    SharedBuffer buffer = pool.allocate_shared(bytes);
    filled(buffer.data(), copies * Secret::kBytes);
    {
      const SharedBuffer second = buffer;
      buffer = SharedBuffer();
      expect_copies(copies, "a handle is left");
    }
    expect_none("the last handle has ended");
    std::vector<void*> blocks(100);
    ASSERT_EQ(pool.allocate_batch(bytes, 100, blocks.data()), 100u);
    for (void* block : blocks) filled(block, Secret::kBytes);
    pool.deallocate_batch(blocks.data(), 100);
    expect_none("a batch");
  }
}

TEST_F(Sensitive, BuffersThatEndWithTheirPoolAreWiped) {
  {
    BufferPool pool({.at_end = AtPoolEnd::kDestroy, .sensitive = true});
    for (const std::size_t bytes : {64u, 1000u, 16'384u, 100'000u}) filled(pool.allocate(bytes), 64);
  }
  expect_none("the end");
}

// -- Heaps

constexpr std::size_t kHeapSizes[] = {16, 48, 1008, 5008, 40'000, 300'000, 3'000'000};

TEST_F(Sensitive, BlocksOfAHeapAreWipedWhenTheyAreFreed) {
  Heap heap({.name = "keys", .sensitive = true});
  for (const std::size_t bytes : kHeapSizes) {
    void* const one = filled(heap.allocate(bytes), bytes);
    void* const other = filled(heap.allocate(bytes, 64), bytes);
    heap.deallocate(one);
    expect_copies(bytes / Secret::kBytes, "one is freed");
    tarn::deallocate(other);
    expect_none("both are freed");
  }
}

TEST_F(Sensitive, ClearAndTheEndOfAHeapWipeWhatIsLive) {
  {
    Heap heap({.sensitive = true});
    for (int round = 0; round < 2; ++round) {
      for (const std::size_t bytes : kHeapSizes)
        for (int i = 0; i < 20; ++i) filled(heap.allocate(bytes), 16);
      if (round == 0) heap.clear();
      if (round == 0) expect_none("clear");
    }
  }
  expect_none("the end");
}

TEST_F(Sensitive, ABlockOfAHeapLeavesNothingWhereItWas) {
  Heap heap({.sensitive = true});
  for (const std::size_t bytes : kHeapSizes) {
    void* block = filled(heap.allocate(bytes), bytes);
    block = heap.reallocate(block, 2 * bytes + 100);
    expect_copies(bytes / Secret::kBytes, "it has grown");
    block = heap.reallocate(block, 16);
    expect_copies(1, "it has shrunk");
    block = tarn::reallocate(block, 100);
    EXPECT_TRUE(heap.owns(block));
    tarn::deallocate(block);
    expect_none("it has ended");
  }
}

TEST_F(Sensitive, AHeapInABufferOrAHeapIsWipedToo) {
  static char buffer[1 << 20];
  Heap around("around");
  Heap in_buffer({.buffer = buffer, .buffer_bytes = sizeof buffer, .sensitive = true});
  Heap inner({.parent = &around, .sensitive = true});
  for (Heap* heap : {&in_buffer, &inner}) {
    for (const std::size_t bytes : {16u, 1008u, 40'000u}) {
      heap->deallocate(filled(heap->allocate(bytes), bytes));
      expect_none("freed");
    }
    for (const std::size_t bytes : {16u, 1008u, 40'000u}) filled(heap->allocate(bytes), bytes);
    heap->clear();
    expect_none("clear");
  }
}

TEST_F(Sensitive, AScopeMakesTheGeneralPoolsCallsSensitive) {
  Heap heap({.sensitive = true});
  void* block = nullptr;
  {
    const HeapScope scope(heap, ScopeServes::kTarnCalls);
    block = filled(tarn::allocate(1008), 1008);
    block = tarn::reallocate(block, 9000);
  }
  expect_copies(1008 / Secret::kBytes, "live");
  tarn::deallocate(block);
  expect_none("freed");
}

// -- Arenas

TEST_F(Sensitive, AnArenaWipesWhatARewindAResetAndItsEndFree) {
  Heap plain("plain"), sensitive({.sensitive = true});
  for (Heap* heap : {static_cast<Heap*>(nullptr), &plain, &sensitive}) {
    {
      Arena arena({.initial_bytes = 1000, .heap = heap, .sensitive = heap != &sensitive});
      filled(arena.allocate(512), 512);
      const ArenaMark mark = arena.mark();
      for (int i = 0; i < 100; ++i) filled(arena.allocate(496), 496);
      arena.rewind(mark);
      expect_copies(512 / Secret::kBytes, "rewind");
      arena.reset();
      expect_none("reset");
      for (int i = 0; i < 100; ++i) filled(arena.allocate(496), 496);
    }
    expect_none("the end");
  }
}

TEST_F(Sensitive, ATickWipesTheLastOne) {
  TickArena ticks({.initial_bytes = 10'000, .sensitive = true});
  ticks.begin_tick();
  filled(ticks.allocate(9600), 9600);
  filled(ticks.allocate(9600), 9600);
  ticks.begin_tick();
  expect_none("the next tick");
}

// -- The general pool's relatives

TEST_F(Sensitive, MemoryOfAnySizeIsWipedByEitherFree) {
  for (const std::size_t bytes : kHeapSizes) {
    tarn::deallocate_sensitive(filled(tarn::allocate_sensitive(bytes), bytes));
    expect_none("tarn::deallocate_sensitive");
    tarn::deallocate(filled(tarn::allocate_sensitive(bytes, 4096), bytes));
    expect_none("tarn::deallocate");
    tarn_deallocate_sensitive(filled(tarn_allocate_sensitive(bytes), bytes));
    expect_none("tarn_deallocate_sensitive");
  }
  tarn::deallocate_sensitive(nullptr);
}

TEST_F(Sensitive, AVectorThatGrowsLeavesNoCopies) {
  {
    std::vector<char, sensitive_allocator<char>> text;
    for (int i = 0; i < 100; ++i) {
      text.resize(text.size() + 48);
      secret_.write(text.data() + text.size() - 48, 48);
    }
    expect_copies(300, "only its own");
  }
  expect_none("the vector has ended");
}

// -- Threads and processes

// Each thread takes blocks, and the next one frees them.
void pass_round(const std::function<void*()>& take, const std::function<void(void*)>& free) {
  constexpr int kThreads = 4, kRounds = 20, kBlocks = 100;
  std::vector<void*> blocks[kThreads];
  std::barrier barrier(kThreads);
  in_threads(kThreads, [&](int number) {
    for (int round = 0; round < kRounds; ++round) {
      for (int i = 0; i < kBlocks; ++i) blocks[number].push_back(take());
      barrier.arrive_and_wait();
      std::vector<void*>& others = blocks[(number + 1) % kThreads];
      for (void* block : others) free(block);
      others.clear();
      barrier.arrive_and_wait();
    }
  });
}

TEST_F(Sensitive, BlocksThatAnotherThreadFreesAreWiped) {
  SharedFixedPool fixed(FixedPoolOptions{.block_bytes = 64, .sensitive = true});
  pass_round([&] { return filled(fixed.allocate(), 64); }, [&](void* block) { fixed.deallocate(block); });
  expect_none("a fixed pool");
  Heap heap({.sensitive = true});
  pass_round([&] { return filled(heap.allocate(1008), 1008); }, [&](void* block) { heap.deallocate(block); });
  expect_none("a heap");
  BufferPool buffers({.sensitive = true});
  pass_round([&] { return filled(buffers.allocate(1008), 1008); },
             [&](void* block) { buffers.deallocate(block); });
  expect_none("a buffer pool");
  ObjectPool<Key> objects({.sensitive = true});
  pass_round([&] { return objects.create(secret_, false); },
             [&](void* block) { objects.destroy(static_cast<Key*>(block)); });
  expect_none("an object pool");
  HandlePool<Key> handles({.sensitive = true});
  pass_round([&] { return new Handle<Key>(handles.create(secret_, false)); },
             [&](void* block) {
               const std::unique_ptr<Handle<Key>> handle(static_cast<Handle<Key>*>(block));
               EXPECT_TRUE(handles.destroy(*handle));
             });
  expect_none("a handle pool");
  pass_round([&] { return filled(tarn::allocate_sensitive(240), 240); },
             [&](void* block) { tarn::deallocate(block); });
  expect_none("sensitive memory");
}

TEST_F(Sensitive, AChildOfAForkWipesItsCopyAndLeavesItsParents) {
  FixedPool pool(FixedPoolOptions{.block_bytes = 64, .sensitive = true});
  Heap heap({.sensitive = true});
  void* const block = filled(pool.allocate(), 64);
  filled(heap.allocate(1008), 1008);
  const ChildResult child = run_in_child([&] {
    pool.deallocate(block);
    heap.clear();
    return kSanitizer || secret_.count_in_process() == 0 ? 0 : 1;
  });
  EXPECT_TRUE(child.is_success()) << child.describe();
  expect_copies((64 + 1008) / Secret::kBytes, "the parent's");
  pool.deallocate(block);
  heap.clear();
  expect_none("the parent's are wiped too");
}

// -- Core files

class SensitivePages : public Sensitive {};

TEST_F(SensitivePages, AreLeftOutOfCoreFilesAndOthersAreNot) {
  FixedPool fixed(FixedPoolOptions{.block_bytes = 64, .sensitive = true});
  ObjectPool<Key> objects({.at_end = AtPoolEnd::kDestroy, .sensitive = true});
  HandlePool<Key> handles({.at_end = AtPoolEnd::kDestroy, .sensitive = true});
  BufferPool buffers({.at_end = AtPoolEnd::kDestroy, .sensitive = true});
  Heap heap({.sensitive = true});
  Arena arena({.sensitive = true});
  heap.prewarm(4 * 64 * 1024);
  const void* const sensitive[] = {fixed.allocate(),
                                   objects.create(secret_, false),
                                   handles.get(handles.create(secret_, false)),
                                   buffers.allocate(1000),
                                   buffers.allocate(1'000'000),
                                   heap.allocate(100),
                                   heap.allocate(3'000'000),
                                   arena.allocate(100),
                                   tarn::allocate_sensitive(100)};
  for (const void* block : sensitive) EXPECT_TRUE(is_left_out_of_dumps(block)) << (&block - sensitive);
  FixedPool plain(64);
  Heap plain_heap;
  Arena plain_arena;
  for (const void* block : {plain.allocate(), plain_heap.allocate(100), plain_heap.allocate(3'000'000),
                            plain_arena.allocate(100), tarn::allocate(100), tarn::allocate(5'000'000)})
    EXPECT_FALSE(is_left_out_of_dumps(block));
}

TEST_F(SensitivePages, AreInCoreFilesAgainOnceTheyServeOthers) {
  {
    Heap heap({.sensitive = true});
    for (int i = 0; i < 50; ++i) filled(heap.allocate(900'000), 16);
  }
  std::vector<void*> blocks;
  for (int i = 0; i < 50; ++i) {
    blocks.push_back(tarn::allocate(i % 2 == 0 ? 900'000 : 3'000'000));
    EXPECT_FALSE(is_left_out_of_dumps(blocks.back()));
  }
  for (void* block : blocks) tarn::deallocate(block);
  tarn::trim();
  Heap heap({.sensitive = true});
  for (int i = 0; i < 50; ++i)
    EXPECT_TRUE(is_left_out_of_dumps(heap.allocate(i % 2 == 0 ? 900'000 : 3'000'000))) << i;
}

TEST_F(SensitivePages, AreWipedWhereTheSystemRefusesToLeaveThemOut) {
  const FaultInjection refusals(FaultInjection::kind(Call::kDump), 0, FaultInjection::Extent::kAllFromThere);
  {
    Heap heap({.sensitive = true});
    SharedFixedPool pool(FixedPoolOptions{.block_bytes = 64, .sensitive = true});
    for (int i = 0; i < 20; ++i) {
      filled(heap.allocate(1'000'000), 16);
      filled(pool.allocate(), 64);
    }
    void* const block = filled(heap.allocate(1008), 1008);
    EXPECT_TRUE(secret_.is_at(block));
  }
  expect_none("the end");
}

// -- Misuse

void expect_stop(const char* line, const std::function<void()>& misuse) {
  const ChildResult child = run_in_child([&] {
    misuse();
    return 0;
  });
  EXPECT_FALSE(child.is_success());
  EXPECT_NE(child.error.find(line), std::string::npos) << child.describe();
}

class SensitiveMisuse : public Sensitive {};

TEST_F(SensitiveMisuse, IsSeenAsInOtherPools) {
  if (kAddressSanitizer) GTEST_SKIP() << "the sanitizer is the first to see it";
  SharedFixedPool pool(FixedPoolOptions{.name = "keys", .block_bytes = 64, .sensitive = true});
  Heap heap({.name = "keys", .sensitive = true});
  char* const block = static_cast<char*>(pool.allocate());
  char* const of_heap = static_cast<char*>(heap.allocate(100));
  expect_stop("double free in 'keys'", [&] {
    pool.deallocate(block);
    pool.deallocate(block);
  });
  expect_stop("free of a pointer into a block in 'keys'", [&] { pool.deallocate(block + 8); });
  expect_stop("no block of the pool in 'keys'", [&] { pool.deallocate(of_heap); });
  expect_stop("double free in 'keys'", [&] {
    heap.deallocate(of_heap);
    heap.deallocate(of_heap);
  });
  expect_stop("free of a pointer into a block in 'keys'", [&] { heap.deallocate(of_heap + 16); });
  expect_stop("no block of the heap in 'keys'", [&] { heap.deallocate(block); });
  expect_stop("no block of the heap in 'sensitive'", [&] { tarn::deallocate_sensitive(block); });
  pool.deallocate(block);
  heap.deallocate(of_heap);
}

}  // namespace
}  // namespace tarn::test
