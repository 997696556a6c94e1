// Right uses of the pools after which their pages serve others: memcheck must find no fault with any of them.
// Told a name, runs that case.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "tarn/arena.h"
#include "tarn/fixed_pool.h"
#include "tarn/handler_memory.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/object_pool.h"

namespace {

constexpr int kBlocks = 20000;
alignas(4096) char buffer[1 << 20];

void use(void* block, std::size_t bytes) {
  auto* const written = static_cast<unsigned char*>(std::memset(block, 1, bytes));
  if (written[bytes / 2] != 1) std::abort();  // a value memcheck must know
}

/// Takes what the pools have given back, of small pages and large ones.
void use_general_pool() {
  for (std::size_t i = 0; i < kBlocks; ++i) use(tarn::allocate(i % 5000 + 1), i % 5000 + 1);
  use(tarn::allocate(20 << 20), 20 << 20);
}

struct Object {
  explicit Object(Object* other) : next(other) {}
  ~Object() {
    if (next != nullptr && next->number != 5) std::abort();
  }
  Object* next;
  int number = 5;
  char payload[64] = {};
};

void fixed_pool_end() {
  tarn::FixedPool pool(80);
  for (int i = 0; i < kBlocks; ++i) use(pool.allocate(), 80);
}

void fixed_pool_release() {
  tarn::SharedFixedPool pool(80);
  std::vector<void*> blocks;
  for (int i = 0; i < kBlocks; ++i) use(blocks.emplace_back(pool.allocate()), 80);
  for (void* const block : blocks) std::rand() % 2 == 0 ? pool.deallocate(block) : tarn::deallocate(block);
  pool.release_unused();
  use_general_pool();
}

void fixed_pool_runs() {
  tarn::FixedPool pool(64);
  for (int i = 0; i < 100; ++i) {
    auto* const run = static_cast<char*>(pool.allocate_run(10));
    use(run, 640);
    for (int k = 0; k < 10; ++k) pool.deallocate(run + 64 * k);
    void* blocks[3] = {};
    pool.deallocate_batch(blocks, pool.allocate_batch(3, blocks));
  }
  pool.clear();
  pool.release_unused();
  use_general_pool();
}

void object_pool_release() {
  tarn::ObjectPool<Object> pool;
  std::vector<Object*> objects;
  for (int i = 0; i < kBlocks; ++i) objects.push_back(pool.create(nullptr));
  for (Object* const object : objects) pool.destroy(object);
  pool.release_unused();
  tarn::trim();
  use_general_pool();
}

/// The destructors look at other objects of the pool.
void object_pool_destroy() {
  tarn::ObjectPool<Object> pool({.at_end = tarn::AtPoolEnd::kDestroy});
  std::vector<Object*> objects;
  for (int i = 0; i < kBlocks; ++i) objects.push_back(pool.create(nullptr));
  for (Object* const object : objects)
    if (object != objects.back()) object->next = objects.back();
}

void object_pool_hand_over() {
  std::vector<Object*> objects;
  {
    tarn::ObjectPool<Object> pool({.at_end = tarn::AtPoolEnd::kHandOver});
    for (int i = 0; i < kBlocks; ++i) objects.push_back(pool.create(nullptr));
  }
  for (Object* const object : objects) {
    use(object->payload, sizeof object->payload);
    object->~Object();
    tarn::deallocate(object);
  }
}

void heap_end() {
  tarn::Heap heap;
  for (std::size_t i = 0; i < kBlocks / 4; ++i) use(heap.allocate(i + 1), i + 1);
  tarn::Heap ended;
  use(ended.allocate(1000), 1000);
  ended.destroy();
  use_general_pool();
}

void heap_release() {
  tarn::Heap heap;
  std::vector<void*> blocks;
  for (std::size_t i = 0; i < kBlocks / 4; ++i) use(blocks.emplace_back(heap.allocate(i + 1)), i + 1);
  for (void* const block : blocks) std::rand() % 2 == 0 ? heap.deallocate(block) : tarn::deallocate(block);
  heap.clear();
  heap.release_unused();
  use_general_pool();
}

/// Blocks the heap has freed come again, by its own door and by the scope's; they move and stay.
void heap_scope() {
  tarn::Heap heap;
  for (std::size_t size = 1; size < 3000; size += 7) {
    heap.deallocate(heap.allocate(size));
    tarn::HeapScope scope(heap);
    void* const block = tarn::allocate(size / 2 + 1);
    use(block, size / 2 + 1);
    auto* const grown = static_cast<unsigned char*>(heap.reallocate(block, size + 2));
    if (grown[0] != 1) std::abort();
    use(grown, size + 2);
    auto* const moved = static_cast<unsigned char*>(heap.reallocate(grown, 3 * size + 100));
    if (moved[size] != 1) std::abort();
    use(moved, heap.usable_size(moved));
    size % 2 == 0 ? heap.deallocate(moved) : tarn::deallocate(moved);
  }
}

void heap_in_a_buffer() {
  {
    tarn::Heap heap({.buffer = buffer, .buffer_bytes = sizeof buffer});
    for (std::size_t i = 0; i < 500; ++i) use(heap.allocate(i + 1), i + 1);
  }
  use(buffer, sizeof buffer);
}

/// An arena's callbacks lie in it, and run when it ends.
void arena_end() {
  {
    tarn::Arena arena;
    for (std::size_t i = 0; i < 5000; ++i) use(arena.allocate(i + 1), i + 1);
    Object* const first = arena.create<Object>(nullptr);
    static_cast<void>(arena.create<Object>(first));
  }
  { use(tarn::Arena(buffer, sizeof buffer).allocate(100), 100); }
  use(buffer, sizeof buffer);
}

void arena_release() {
  tarn::Arena arena({.sensitive = true});
  for (int round = 0; round < 5; ++round) {
    use(arena.allocate(100), 100);
    const tarn::ArenaMark mark = arena.mark();
    for (std::size_t i = 0; i < 3000; ++i) use(arena.allocate(i + 1), i + 1);
    round % 2 == 0 ? arena.rewind(mark) : arena.reset();
    arena.prewarm(10000);
    arena.release_unused();
    use_general_pool();
  }
}

void handler_memory() {
  tarn::HandlerMemory memory;
  for (std::size_t i = 0; i < 50; ++i) {
    const std::size_t size = 1 + i * i % 70 * 5000;
    void* const handler = memory.allocate(size);
    void* const small = memory.allocate(100);
    use(handler, size);
    use(small, 100);
    memory.deallocate(handler, size);
    memory.deallocate(small, 100);
    if (i % 7 == 0) memory.release_unused();
  }
}

constexpr std::pair<const char*, void (*)()> kCases[] = {
    {"fixed_pool_end", fixed_pool_end},
    {"fixed_pool_release", fixed_pool_release},
    {"fixed_pool_runs", fixed_pool_runs},
    {"object_pool_release", object_pool_release},
    {"object_pool_destroy", object_pool_destroy},
    {"object_pool_hand_over", object_pool_hand_over},
    {"heap_end", heap_end},
    {"heap_release", heap_release},
    {"heap_scope", heap_scope},
    {"heap_in_a_buffer", heap_in_a_buffer},
    {"arena_end", arena_end},
    {"arena_release", arena_release},
    {"handler_memory", handler_memory},
};

}  // namespace

int main(int count, char** arguments) {
  for (const auto& [name, run] : kCases) {
    if (count != 2 || std::strcmp(name, arguments[1]) != 0) continue;
    run();
    tarn::trim();
    use_general_pool();
    return 0;
  }
  std::fprintf(stderr, "no such case\n");
  return 2;
}
