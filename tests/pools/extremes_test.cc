// Counts and sizes that no system has: refused at once, and nothing is taken.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>

#include "tarn/arena.h"
#include "tarn/buffer_pool.h"
#include "tarn/fixed_pool.h"
#include "tarn/handle_pool.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/object_pool.h"
#include "tarn/pools.h"
#include "tarn/stats.h"
#include "tarn/tarn.h"

namespace tarn::test {
namespace {

struct Object {
  char bytes[48];
};

constexpr std::size_t kCounts[] = {std::size_t{1} << 40,
                                   std::size_t{1} << 46,
                                   (std::size_t{1} << 46) + 1,
                                   SIZE_MAX / 2 + 1,
                                   SIZE_MAX / 48 + 1,
                                   SIZE_MAX - 15,
                                   SIZE_MAX};

/// Expects of each count that the call makes nothing and holds no more memory. \param call returns what it
/// made
void expect_refused(const char* name, const std::function<std::size_t(std::size_t)>& call) {
  call(1);  // what is made once: records, the first pages
  const auto start = std::chrono::steady_clock::now();
  for (const std::size_t count : kCounts) {
    const std::size_t held = stats().held_bytes;
    EXPECT_LT(call(count), std::size_t{1} << 20) << name << " of " << count;
    EXPECT_LE(stats().held_bytes, held + (64 << 10)) << name << " of " << count;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5)) << name;
}

TEST(Extremes, PrewarmsOfMoreThanThereIsTakeNothing) {
  FixedPool fixed({.block_bytes = 48});
  SharedFixedPool shared({.block_bytes = 48});
  ObjectPool<Object> objects;
  ObjectPool<Object, LiveObjects::kListed> listed;
  HandlePool<Object> handles;
  BufferPool buffers;
  Heap heap("heap");
  Arena arena;
  expect_refused("prewarm", [](std::size_t n) { return prewarm(n); });
  expect_refused("FixedPool::prewarm", [&](std::size_t n) { return fixed.prewarm(n); });
  expect_refused("FixedPool::reserve", [&](std::size_t n) { return fixed.reserve(n); });
  expect_refused("SharedFixedPool::prewarm", [&](std::size_t n) { return shared.prewarm(n); });
  expect_refused("ObjectPool::prewarm", [&](std::size_t n) { return objects.prewarm(n); });
  expect_refused("ObjectPool::prewarm, listed", [&](std::size_t n) { return listed.prewarm(n); });
  expect_refused("HandlePool::prewarm", [&](std::size_t n) { return handles.prewarm(n); });
  expect_refused("BufferPool::prewarm", [&](std::size_t n) { return buffers.prewarm(48, n); });
  expect_refused("Heap::prewarm", [&](std::size_t n) { return heap.prewarm(n); });
  expect_refused("Arena::prewarm", [&](std::size_t n) { return arena.prewarm(n); });
}

TEST(Extremes, SizesBeyondAllAddressesAreRefused) {
  FixedPool fixed({.block_bytes = 48});
  BufferPool buffers;
  Heap heap("heap");
  Arena arena;
  void* const kept = allocate(100);
  for (const std::size_t n : {(std::size_t{1} << 46) + 1, SIZE_MAX / 2 + 1, SIZE_MAX - 15, SIZE_MAX}) {
    EXPECT_EQ(allocate(n), nullptr) << n;
    EXPECT_EQ(allocate(n, 64), nullptr) << n;
    EXPECT_EQ(allocate_zeroed(n), nullptr) << n;
    EXPECT_EQ(reallocate(kept, n), nullptr) << n;
    EXPECT_EQ(buffers.allocate(n), nullptr) << n;
    EXPECT_EQ(heap.allocate(n), nullptr) << n;
    EXPECT_EQ(heap.allocate(n, 64), nullptr) << n;
    EXPECT_EQ(arena.allocate(n), nullptr) << n;
    EXPECT_EQ(arena.allocate(n, 64), nullptr) << n;
    EXPECT_EQ(fixed.allocate_run(n), nullptr) << n;
    void* blocks[1];
    EXPECT_EQ(allocate_batch(n, 1, blocks), 0u) << n;
    EXPECT_EQ(tarn_allocate(n), nullptr) << n;
  }
  EXPECT_EQ(allocate(1, std::size_t{1} << 63), nullptr);
  EXPECT_EQ(allocate_zeroed(SIZE_MAX / 2 + 1, 2), nullptr);
  EXPECT_EQ(allocate_zeroed(SIZE_MAX / 16 + 2, 16), nullptr);
  deallocate(kept);
}

TEST(Extremes, NothingIsAskedForAndNothingIsMade) {
  FixedPool fixed({.block_bytes = 48});
  Heap heap("heap");
  Arena arena;
  EXPECT_EQ(prewarm(0), 0u);
  EXPECT_EQ(fixed.prewarm(0), 0u);
  EXPECT_EQ(heap.prewarm(0), 0u);
  EXPECT_EQ(arena.prewarm(0), 0u);
  EXPECT_EQ(allocate_batch(48, 0, nullptr), 0u);
  EXPECT_EQ(fixed.allocate_run(0), nullptr);
}

TEST(Extremes, AnArenaWithOptionsBeyondAllAddressesRefuses) {
  for (const std::size_t n : {SIZE_MAX, SIZE_MAX - 15, (std::size_t{1} << 46) + 1}) {
    Arena first({.initial_bytes = n});
    EXPECT_EQ(first.allocate(100), nullptr) << n;
    Arena later({.initial_bytes = 4096, .increment_bytes = n});
    void* const block = later.allocate(100);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(later.allocate(100'000), nullptr) << n;
  }
}

}  // namespace
}  // namespace tarn::test
