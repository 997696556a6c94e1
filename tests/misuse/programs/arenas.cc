#include "misuse/misuse.h"
#include "tarn/arena.h"
#include "tarn/handler_memory.h"
#include "tarn/heap.h"

// A block of an arena in a heap is freed, which is the heap's to judge: it lies in a block of the heap.
MISUSE(pool_arena_block_in_a_heap) {
  tarn::Heap heap("room");
  tarn::Arena arena({.heap = &heap});
  void* const block = arena.allocate(100);
  must_die_with("free of a pointer into a block in 'room'", block);
  free(opaque(block));
}

// A write before an arena's first block reaches the record of its chunk.
MISUSE(pool_arena_overflow_into_a_chunk) {
  alignas(64) static char buffer[4096];
  tarn::Arena arena(buffer, sizeof buffer);
  static_cast<void>(arena.allocate(32));
  memset(opaque(&buffer[0]), 0x41, 16);
  must_die_with("overwritten record of the library", buffer);
  arena.reset();
}

struct Object {
  ~Object() { puts("the object's end"); }
};

// A write past a block of an arena reaches the destructor that is to run behind it.
MISUSE(pool_arena_overflow_into_a_cleanup) {
  tarn::Arena arena;
  char* const block = static_cast<char*>(arena.allocate(32));
  static_cast<void>(arena.create<Object>());
  memset(opaque(block), 0x41, 48);
  must_die_with("overwritten record of the library", block + 32);
  arena.reset();
}

// A block of a HandlerMemory is freed twice while it is kept.
MISUSE(pool_handler_memory_double_free) {
  tarn::HandlerMemory memory;
  void* const first = memory.allocate(64);
  void* const second = memory.allocate(64);
  memory.deallocate(first, 64);
  must_die_with("double free", first);
  memory.deallocate(opaque(first), 64);
  memory.deallocate(second, 64);
}

// A kept block of a HandlerMemory is written to: its list would lead to an address of the writer's.
MISUSE(pool_handler_memory_written_after_free) {
  static size_t target[32] = {0, 0, 4096};
  tarn::HandlerMemory memory;
  void* const block = memory.allocate(64);
  memory.deallocate(block, 64);
  size_t* const words = opaque(static_cast<size_t*>(block));
  words[0] = words[1] = reinterpret_cast<size_t>(target);
  must_die_with("overwritten record of the library", block);
  opaque(memory.allocate(64));
}
