// The scenarios of the pools: what they had counts, what was refused does not.
#include <bit>
#include <cerrno>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "fault/scenario.h"
#include "pool/buffers/buffer_pool_state.h"
#include "support/buffers.h"
#include "support/content.h"
#include "support/sizes.h"
#include "tarn/arena.h"
#include "tarn/buffer_chain.h"
#include "tarn/buffer_pool.h"
#include "tarn/fixed_pool.h"
#include "tarn/handler_memory.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/object_pool.h"

#define EXPECT_OR_RETURN(condition) \
  if (!(condition)) return __LINE__

namespace tarn::test {
namespace {

struct Run {
  void* blocks;
  std::size_t count;
};

template <typename Pool>
int use_fixed_pool(std::size_t block_bytes, std::size_t per_chunk) {
  std::unique_ptr<Pool> pool;
  try {
    pool =
        std::make_unique<Pool>(FixedPoolOptions{.block_bytes = block_bytes, .blocks_per_chunk = per_chunk});
  } catch (const std::bad_alloc&) {
    return 0;
  }
  std::vector<Run> live;
  std::size_t live_count = 0;
  auto note = [&](void* blocks, std::size_t count) {
    if (blocks == nullptr) return;
    fill(blocks, block_bytes, live.size());
    live.push_back({blocks, count});
    live_count += count;
  };
  for (std::size_t i = 0; i < 400; ++i) {
    const std::size_t count = i % 5 == 0 ? 1 + i % per_chunk : 1;
    note(count == 1 ? pool->allocate() : pool->allocate_run(count), count);
    void* batch[10];
    if (i % 50 == 0)
      for (std::size_t k = pool->allocate_batch(10, batch); k-- > 0;) note(batch[k], 1);
    if (i % 90 == 0) pool->reserve(i);
    if (i % 70 == 0) pool->release_unused();
    EXPECT_OR_RETURN(pool->live_count() == live_count);
  }
  for (std::size_t i = 0; i < live.size(); ++i) {
    EXPECT_OR_RETURN(holds(live[i].blocks, block_bytes, i));
    pool->deallocate_run(live[i].blocks, live[i].count);
  }
  EXPECT_OR_RETURN(pool->live_count() == 0);
  pool->release_unused();
  EXPECT_OR_RETURN(pool->capacity() == 0);
  return 0;
}

bool try_append(BufferChain& chain, SharedBuffer buffer) { return chain.try_append(buffer); }

template <typename Pool>
int use_buffer_pool() {
  std::unique_ptr<Pool> pool;
  try {
    pool = std::make_unique<Pool>(BufferPoolOptions{.largest_bytes = 4096});
  } catch (const std::bad_alloc&) {
    return 0;
  }
  std::vector<std::pair<void*, std::size_t>> plain;
  BufferChain chain;
  std::size_t chained = 0, bytes = 0;
  for (std::size_t i = 0; i < 400; ++i) {
    const std::size_t size = i % 40 == 0 ? 70000 + i * 1000 : 1 + i * 37 % 4096;
    if (void* const block = pool->allocate(size)) {
      fill(block, size, i);
      plain.push_back({block, size});
    }
    SharedBuffer buffer = pool->allocate_shared(size);
    const SharedBuffer copy = buffer;
    if (buffer) {
      fill(buffer.data(), size, size);
      if (try_append(chain, std::move(buffer))) ++chained, bytes += size;
    }
    if (i % 50 == 0) {
      void* blocks[20];
      const std::size_t count = pool->allocate_batch(size, 20, blocks);
      for (std::size_t j = 0; j < count; ++j) fill(blocks[j], size, j);
      pool->deallocate_batch(blocks, count);
    }
    if (i % 90 == 0) pool->reserve(size, i);
    if (i % 70 == 0) pool->release_unused();
    const std::size_t is_held = copy && copy.reference_count() == 1 ? 1 : 0;
    EXPECT_OR_RETURN(live_count(*pool) == plain.size() + chained + is_held);
    EXPECT_OR_RETURN(chain.count() == chained && chain.bytes() == bytes);
  }
  for (; !chain.is_empty(); chain.consume(chain[0].size()))
    EXPECT_OR_RETURN(holds(chain[0].data(), chain[0].size(), chain[0].size()));
  EXPECT_OR_RETURN(live_count(*pool) == plain.size());
  for (const auto& [block, size] : plain) pool->deallocate(block, size);
  EXPECT_OR_RETURN(live_count(*pool) == 0);
  internal::validate(detail::BufferPoolAccess::state(*pool));
  pool->release_unused();
  for (std::size_t i = 0; i <= pool->size_count(); ++i) EXPECT_OR_RETURN(pool->use(i).mapped_bytes == 0);
  return 0;
}

struct Object {
  explicit Object(std::uint64_t value) : first(value), last(value) { ++alive; }
  ~Object() { --alive; }
  static inline std::size_t alive = 0;
  std::uint64_t first, middle[200], last;
};

int use_object_pool(AtPoolEnd at_end) {
  std::vector<Object*> live;
  {
    std::unique_ptr<ObjectPool<Object>> pool;
    try {
      pool = std::make_unique<ObjectPool<Object>>(ObjectPoolOptions{.at_end = at_end, .initial_count = 3});
    } catch (const std::bad_alloc&) {
      return 0;
    }
    for (std::uint64_t i = 0; i < 500; ++i) {
      if (Object* const object = pool->try_create(i)) live.push_back(object);
      if (i % 100 == 0) pool->prewarm(20);
      if (i % 7 == 0 && !live.empty()) pool->destroy(live.back()), live.pop_back();
      EXPECT_OR_RETURN(pool->live_count() == live.size());
    }
    std::thread([&] {
      for (int i = 0; i < 20 && !live.empty(); ++i) pool->destroy(live.back()), live.pop_back();
    }).join();
    EXPECT_OR_RETURN(pool->live_count() == live.size());
    EXPECT_OR_RETURN(Object::alive == live.size());
  }
  if (at_end == AtPoolEnd::kHandOver)
    for (Object* object : live) {
      EXPECT_OR_RETURN(object->first == object->last);
      object->~Object();
      tarn::deallocate(object);
    }
  EXPECT_OR_RETURN(Object::alive == 0);
  return 0;
}

int use_heap(Heap& heap) {
  if (!heap.is_valid()) {
    EXPECT_OR_RETURN(heap.allocate(1) == nullptr);
    return 0;
  }
  std::vector<std::pair<void*, std::size_t>> live;
  std::size_t live_bytes = 0;
  for (const std::size_t size : boundary_sizes_and_landmarks(300 * kKiB)) {
    errno = 0;
    void* const block = heap.allocate(size, size % 3 == 0 ? 64 : 16);
    EXPECT_OR_RETURN(block != nullptr || errno == ENOMEM);
    if (block == nullptr) continue;
    fill(block, size < 1000 ? size : 1000, size);
    live.push_back({block, size});
    live_bytes += heap.usable_size(block);
    if (size % 16 == 0) {
      HeapScope scope(heap);
      const std::size_t before = heap.usable_size(block);
      if (void* const moved = tarn::reallocate(block, size * 2)) {
        EXPECT_OR_RETURN(holds(moved, size < 1000 ? size : 1000, size));
        live.back().first = moved;
        live_bytes += heap.usable_size(moved) - before;
      }
    }
    if (std::has_single_bit(size)) heap.prewarm(100000);
    EXPECT_OR_RETURN(heap.use().live_bytes == live_bytes);
    EXPECT_OR_RETURN(heap.use().live_count == live.size());
  }
  for (const auto& [block, size] : live) {
    EXPECT_OR_RETURN(holds(block, size < 1000 ? size : 1000, size));
    tarn::deallocate(block);
  }
  EXPECT_OR_RETURN(heap.use().live_bytes == 0 && heap.use().live_count == 0);
  heap.release_unused();
  EXPECT_OR_RETURN(heap.use().mapped_bytes == 0);
  return 0;
}

}  // namespace

int use_fixed_pools() {
  for (const std::size_t per_chunk : {1u, 64u, 500u})
    for (const std::size_t block_bytes : {24u, 1000u}) {
      if (const int line = use_fixed_pool<FixedPool>(block_bytes, per_chunk)) return line;
      if (const int line = use_fixed_pool<SharedFixedPool>(block_bytes, per_chunk)) return line;
    }
  return 0;
}

int use_buffer_pools() { return use_buffer_pool<BufferPool>(); }

int use_object_pools() {
  std::vector<std::unique_ptr<ObjectPool<Object>>> others;
  for (const AtPoolEnd at_end : {AtPoolEnd::kDestroy, AtPoolEnd::kHandOver})
    if (const int line = use_object_pool(at_end)) return line;
  // No classes are left for the next ones.
  try {
    while (others.size() < 84) others.push_back(std::make_unique<ObjectPool<Object>>());
  } catch (const std::bad_alloc&) {
  }
  for (const AtPoolEnd at_end : {AtPoolEnd::kDestroy, AtPoolEnd::kHandOver})
    if (const int line = use_object_pool(at_end)) return line;
  return 0;
}

int use_heaps() {
  static char buffer[8 * kMiB];
  for (int round = 0; round < 2; ++round) {
    Heap heap, in_buffer({.buffer = buffer, .buffer_bytes = sizeof buffer}), sensitive({.sensitive = true});
    if (const int line = use_heap(heap)) return line;
    if (const int line = use_heap(sensitive)) return line;
    if (const int line = use_heap(in_buffer)) return line;
    static_cast<void>(heap.allocate(100000));
    heap.clear();
    static_cast<void>(heap.allocate(3 * kMiB));
  }
  return 0;
}

int use_handler_memory() {
  HandlerMemory memory;
  std::vector<std::pair<void*, std::size_t>> live;
  for (const std::size_t size : boundary_sizes(300 * kKiB)) {
    if (void* const block = memory.allocate(size)) {
      fill(block, size < 1000 ? size : 1000, size);
      live.push_back({block, size});
    }
    EXPECT_OR_RETURN(memory.live_count() == live.size());
    if (live.size() < 10) continue;
    for (; live.size() > 3; live.pop_back()) {
      const auto [block, bytes] = live.back();
      EXPECT_OR_RETURN(holds(block, bytes < 1000 ? bytes : 1000, bytes));
      memory.deallocate(block, bytes);
    }
    EXPECT_OR_RETURN(memory.kept_count() <= 10);
    if (size % 128 == 0) memory.release_unused();
  }
  for (const auto& [block, bytes] : live) memory.deallocate(block, bytes);
  EXPECT_OR_RETURN(memory.live_count() == 0);
  return 0;
}

int use_arenas() {
  for (const bool is_wiped : {false, true}) {
    Heap heap;
    for (Heap* upstream : {&heap, static_cast<Heap*>(nullptr)}) {
      Arena arena({.initial_bytes = 500, .heap = upstream, .sensitive = is_wiped});
      std::vector<std::pair<void*, std::size_t>> live;
      const ArenaMark begin = arena.mark();
      for (const std::size_t size : boundary_sizes_and_landmarks(300 * kKiB)) {
        void* const block = arena.allocate(size, size % 3 == 0 ? 4096 : 16);
        if (block == nullptr) continue;
        fill(block, size < 1000 ? size : 1000, size);
        live.push_back({block, size});
        if (std::has_single_bit(size)) arena.prewarm(10000);
      }
      for (const auto& [block, size] : live) EXPECT_OR_RETURN(holds(block, size < 1000 ? size : 1000, size));
      arena.rewind(begin);
      arena.release_unused();
      EXPECT_OR_RETURN(arena.used() == 0);
      TickArena ticks(10000);
      for (int tick = 0; tick < 5; ++tick) {
        ticks.begin_tick();
        for (int i = 0; i < 50; ++i)
          if (void* const block = ticks.allocate(300)) fill(block, 300, 1);
      }
    }
    EXPECT_OR_RETURN(heap.use().live_bytes == 0);
  }
  return 0;
}

}  // namespace tarn::test
