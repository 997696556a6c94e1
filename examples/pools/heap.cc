// A budget for a plugin: what it allocates is charged to its heap, wherever it is freed, and all of it ends
// at once.
#include "tarn/heap.h"

#include <cstdio>
#include <thread>

#include "tarn/memory_pool.h"

// Knows nothing of heaps.
static void* plugin_load(std::size_t bytes) { return tarn::allocate(bytes); }

int main() {
  tarn::Heap heap({
      .name = "plugin",
      .soft_limit = 1 << 20,
      .hard_limit = 4 << 20,
      .on_soft_limit = [](tarn::Heap& full,
                          void*) { std::printf("%zu bytes live\n", full.use().live_bytes); },
  });

  void* block = nullptr;
  {
    tarn::HeapScope scope(heap);
    block = plugin_load(100'000);
    while (plugin_load(100'000) != nullptr) {
    }
  }
  const bool was_limited = heap.use().live_bytes <= 4 << 20;

  const std::size_t before = heap.use().live_bytes;
  std::thread([&] { tarn::deallocate(block); }).join();
  const bool was_credited = heap.use().live_bytes < before;

  heap.destroy();
  return was_limited && was_credited && !heap.is_valid() ? 0 : 1;
}
