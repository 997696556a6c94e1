// Counts and sizes that no system has: refused at once, and nothing is taken.
#include "support/prelude.h"
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
  expect_refused("SharedFixedPool::reserve", [&](std::size_t n) { return shared.reserve(n); });
  expect_refused("SharedFixedPool::prewarm", [&](std::size_t n) { return shared.prewarm(n); });
  expect_refused("ObjectPool::prewarm", [&](std::size_t n) { return objects.prewarm(n); });
  expect_refused("ObjectPool::prewarm, listed", [&](std::size_t n) { return listed.prewarm(n); });
  expect_refused("HandlePool::prewarm", [&](std::size_t n) { return handles.prewarm(n); });
  expect_refused("BufferPool::prewarm", [&](std::size_t n) { return buffers.prewarm(48, n); });
  expect_refused("Heap::prewarm", [&](std::size_t n) { return heap.prewarm(n); });
  expect_refused("Arena::prewarm", [&](std::size_t n) { return arena.prewarm(n); });
}

/// A pool of C's that ends with the test; `create` with default options but for those given.
template <typename Pool, typename Options>
std::unique_ptr<Pool, void (*)(Pool*)> pool_of(Pool* (*create)(const Options*, std::size_t),
                                               void (*destroy)(Pool*), const Options& options) {
  return {create(&options, sizeof options), destroy};
}

tarn_fixed_pool_options fixed_options(std::size_t block_bytes) {
  tarn_fixed_pool_options options{};
  options.block_bytes = block_bytes;
  return options;
}

TEST(Extremes, PrewarmsOfPoolsOfCTakeNothingEither) {
  const auto fixed = pool_of(tarn_fixed_pool_create, tarn_fixed_pool_destroy, fixed_options(48));
  const auto shared = pool_of(tarn_shared_fixed_pool_create, tarn_fixed_pool_destroy, fixed_options(48));
  const auto heap = pool_of(tarn_heap_create, tarn_heap_destroy, tarn_heap_options{});
  const auto arena = pool_of(tarn_arena_create, tarn_arena_destroy, tarn_arena_options{});
  const auto buffers = pool_of(tarn_buffer_pool_create, tarn_buffer_pool_destroy, tarn_buffer_pool_options{});
  for (tarn_fixed_pool* const pool : {fixed.get(), shared.get()}) {
    expect_refused("tarn_fixed_pool_reserve",
                   [&](std::size_t n) { return tarn_fixed_pool_reserve(pool, n); });
    expect_refused("tarn_fixed_pool_prewarm",
                   [&](std::size_t n) { return tarn_fixed_pool_prewarm(pool, n); });
  }
  expect_refused("tarn_heap_prewarm", [&](std::size_t n) { return tarn_heap_prewarm(heap.get(), n); });
  expect_refused("tarn_arena_prewarm", [&](std::size_t n) { return tarn_arena_prewarm(arena.get(), n); });
  expect_refused("tarn_buffer_pool_reserve",
                 [&](std::size_t n) { return tarn_buffer_pool_reserve(buffers.get(), 48, n); });
  expect_refused("tarn_buffer_pool_prewarm",
                 [&](std::size_t n) { return tarn_buffer_pool_prewarm(buffers.get(), 48, n); });
  for (const std::size_t bytes : kCounts) {
    EXPECT_EQ(tarn_buffer_pool_prewarm(buffers.get(), bytes, 1), 0u) << bytes;
    EXPECT_GE(tarn_buffer_pool_good_size(buffers.get(), bytes), bytes);
  }
}

TEST(Extremes, SizesOfPoolsOfCBeyondAllAddressesAreRefused) {
  const auto fixed = pool_of(tarn_fixed_pool_create, tarn_fixed_pool_destroy, fixed_options(48));
  const auto shared = pool_of(tarn_shared_fixed_pool_create, tarn_fixed_pool_destroy, fixed_options(48));
  const auto heap = pool_of(tarn_heap_create, tarn_heap_destroy, tarn_heap_options{});
  const auto arena = pool_of(tarn_arena_create, tarn_arena_destroy, tarn_arena_options{});
  const auto buffers = pool_of(tarn_buffer_pool_create, tarn_buffer_pool_destroy, tarn_buffer_pool_options{});
  void* const kept = tarn_heap_allocate(heap.get(), 100);
  for (const std::size_t n : {(std::size_t{1} << 46) + 1, SIZE_MAX / 2 + 1, SIZE_MAX - 15, SIZE_MAX}) {
    EXPECT_EQ(tarn_fixed_pool_allocate_run(fixed.get(), n), nullptr) << n;
    EXPECT_EQ(tarn_fixed_pool_allocate_run(shared.get(), n), nullptr) << n;
    EXPECT_EQ(tarn_heap_allocate(heap.get(), n), nullptr) << n;
    EXPECT_EQ(tarn_heap_allocate_aligned(heap.get(), n, 64), nullptr) << n;
    EXPECT_EQ(tarn_heap_allocate_zeroed(heap.get(), n, 2), nullptr) << n;
    EXPECT_EQ(tarn_heap_allocate_zeroed(heap.get(), 2, n), nullptr) << n;
    EXPECT_EQ(tarn_heap_reallocate(heap.get(), kept, n), nullptr) << n;
    EXPECT_EQ(tarn_arena_allocate(arena.get(), n), nullptr) << n;
    EXPECT_EQ(tarn_arena_allocate_aligned(arena.get(), n, 64), nullptr) << n;
    EXPECT_EQ(tarn_buffer_pool_allocate(buffers.get(), n), nullptr) << n;
    tarn_shared_buffer buffer{};
    EXPECT_EQ(tarn_buffer_pool_allocate_shared(buffers.get(), n, &buffer), -1) << n;
    EXPECT_EQ(tarn_allocate_sensitive(n), nullptr) << n;
    EXPECT_EQ(tarn_allocate_sensitive_aligned(n, 64), nullptr) << n;
  }
  EXPECT_EQ(tarn_fixed_pool_allocate_run(fixed.get(), 0), nullptr);
  EXPECT_EQ(tarn_fixed_pool_allocate_batch(fixed.get(), 0, nullptr), 0u);
  EXPECT_EQ(tarn_heap_allocate_aligned(heap.get(), 1, std::size_t{1} << 63), nullptr);
  EXPECT_EQ(tarn_arena_allocate_aligned(arena.get(), 1, std::size_t{1} << 63), nullptr);
  EXPECT_GE(tarn_heap_usable_size(heap.get(), kept), 100u) << "the old block stays";
}

TEST(Extremes, PoolsOfCWithOptionsThatNoneCanHaveAreNotMade) {
  for (const std::size_t n : {(std::size_t{1} << 46) + 1, SIZE_MAX / 2 + 1, SIZE_MAX - 15, SIZE_MAX}) {
    const std::size_t held = stats().held_bytes;
    for (std::size_t tarn_fixed_pool_options::*const option :
         {&tarn_fixed_pool_options::block_bytes, &tarn_fixed_pool_options::alignment,
          &tarn_fixed_pool_options::blocks_per_chunk, &tarn_fixed_pool_options::initial_count}) {
      tarn_fixed_pool_options options = fixed_options(48);
      options.*option = n;
      EXPECT_EQ(tarn_fixed_pool_create(&options, sizeof options), nullptr) << n;
      EXPECT_EQ(tarn_shared_fixed_pool_create(&options, sizeof options), nullptr) << n;
    }
    for (std::size_t tarn_buffer_pool_options::*const option :
         {&tarn_buffer_pool_options::smallest_bytes, &tarn_buffer_pool_options::largest_bytes,
          &tarn_buffer_pool_options::alignment}) {
      tarn_buffer_pool_options options{};
      options.*option = n;
      EXPECT_EQ(tarn_buffer_pool_create(&options, sizeof options), nullptr) << n;
    }
    EXPECT_LE(stats().held_bytes, held + (64 << 10)) << n;
    tarn_arena_options later{};
    later.increment_bytes = n;
    const auto arena = pool_of(tarn_arena_create, tarn_arena_destroy, later);
    ASSERT_NE(arena, nullptr);
    EXPECT_NE(tarn_arena_allocate(arena.get(), 100), nullptr);
    EXPECT_EQ(tarn_arena_allocate(arena.get(), 100'000), nullptr) << n;
  }
}

TEST(Extremes, SizesBeyondAllAddressesAreRefused) {
  FixedPool fixed({.block_bytes = 48});
  SharedFixedPool shared({.block_bytes = 48});
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
    EXPECT_EQ(shared.allocate_run(n), nullptr) << n;
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
