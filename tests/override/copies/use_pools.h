// All kinds of pools at work, from a header that a program and its plugins share.
#pragma once
#include <cstring>
#include <memory_resource>
#include <thread>
#include <vector>

#include "tarn/arena.h"
#include "tarn/buffer_pool.h"
#include "tarn/fixed_pool.h"
#include "tarn/handle_pool.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/memory_resource.h"
#include "tarn/object_pool.h"

/// What a plugin exports.
struct Calls {
  bool (*use_pools)();
  void* (*allocate)();
  void (*free)(void*);
};

struct Item {
  explicit Item(int number) : numbers{number, number} {}
  int numbers[20];
};

// All static: the loader gives a program and its plugins one function of any other kind.

/// Blocks of a pool, filled, counted and freed; on another thread too.
template <typename Allocate, typename Free>
static bool use_blocks(std::size_t bytes, Allocate allocate, Free free) {
  bool is_kept = true;
  const auto use = [&] {
    std::vector<void*> blocks;
    for (int i = 0; i < 1000; ++i) blocks.push_back(std::memset(allocate(), i, bytes));
    for (int i = 0; i < 1000; ++i) {
      const auto* const content = static_cast<const unsigned char*>(blocks[i]);
      is_kept &= content[0] == i % 256 && content[bytes - 1] == i % 256;
      free(blocks[i]);
    }
  };
  use();
  std::thread(use).join();
  return is_kept;
}

template <typename Pool>
static bool use_pool(Pool& pool) {
  return use_blocks(
             sizeof(Item), [&] { return pool.create(1); },
             [&](void* item) { pool.destroy(static_cast<Item*>(item)); }) &&
         pool.live_count() == 0;
}

/// \returns whether all blocks kept what was written, and all pools are empty at the end.
static bool use_pools() {
  tarn::SharedFixedPool shared(64, "shared");
  tarn::FixedPool fixed(48, "fixed");
  tarn::ObjectPool<Item> items("items");
  tarn::ObjectPool<Item, tarn::LiveObjects::kListed> listed;
  tarn::HandlePool<Item> handles;
  tarn::Heap heap;
  tarn::Arena arena;
  tarn::BufferPool buffers;
  tarn::memory_resource<tarn::Heap> resource(heap);
  bool is_right = use_blocks(
      64, [&] { return shared.allocate(); }, [&](void* block) { shared.deallocate(block); });
  is_right &= use_blocks(
      100, [&] { return heap.allocate(100); }, [&](void* block) { heap.deallocate(block); });
  is_right &= use_blocks(
      500, [] { return tarn::allocate(500); }, [](void* block) { tarn::deallocate(block); });
  is_right &= use_pool(items) && use_pool(listed);
  void* const run = fixed.allocate_run(4);
  fixed.deallocate_run(run, 4);
  const auto handle = handles.create(5);
  is_right &= handles.destroy(handle) && handles.live_count() == 0;
  is_right &= arena.allocate(1000) != nullptr && buffers.allocate_shared(2000).size() >= 2000;
  std::pmr::vector<int> numbers(&resource);
  for (int i = 0; i < 5000; ++i) numbers.push_back(i);
  return is_right && numbers[4999] == 4999 && fixed.live_count() == 0;
}
