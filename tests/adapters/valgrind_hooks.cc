// Reads a block of the pool it is told to after it was freed; told nothing, uses all of them as it should.
#include <cstdio>
#include <cstring>

#include "tarn/arena.h"
#include "tarn/fixed_pool.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/object_pool.h"

static int read(const void* block) { return *static_cast<const volatile char*>(block) != 0 ? 1 : 0; }

int main(int count, char** arguments) {
  const char* const pool = count > 1 ? arguments[1] : "";
  tarn::FixedPool fixed(64);
  auto* const packet = static_cast<char*>(fixed.allocate());
  packet[0] = 1;
  int sum = read(packet);
  fixed.deallocate(packet);
  if (std::strcmp(pool, "fixed_pool") == 0) sum += read(packet);

  tarn::ObjectPool<long> objects;
  long* const object = objects.create(5);
  sum += read(object);
  objects.destroy(object);
  if (std::strcmp(pool, "object_pool") == 0) sum += read(object);

  tarn::Heap heap;
  auto* const block = static_cast<char*>(heap.allocate(100));
  block[0] = 1;
  sum += read(block);
  heap.deallocate(block);
  if (std::strcmp(pool, "heap") == 0) sum += read(block);
  auto* const large = static_cast<char*>(heap.allocate(1 << 20));
  large[0] = 1;
  sum += read(large);
  tarn::deallocate(large);
  if (std::strcmp(pool, "heap_large_block") == 0) sum += read(large);
  auto* const cleared = static_cast<char*>(heap.allocate(100));
  cleared[0] = 1;
  heap.clear();
  if (std::strcmp(pool, "heap_after_clear") == 0) sum += read(cleared);

  tarn::Arena arena;
  auto* const scratch = static_cast<char*>(arena.allocate(100));
  scratch[0] = 1;
  sum += read(scratch);
  arena.reset();
  if (std::strcmp(pool, "arena") == 0) sum += read(scratch);
  const tarn::ArenaMark mark = arena.mark();
  auto* const later = static_cast<char*>(arena.allocate(100));
  later[0] = 1;
  arena.rewind(mark);
  if (std::strcmp(pool, "arena_after_rewind") == 0) sum += read(later);
  std::printf("%d\n", sum);
  return 0;
}
