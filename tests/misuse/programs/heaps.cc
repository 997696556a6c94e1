#include <vector>

#include "misuse/misuse.h"
#include "tarn/heap.h"

// A block of a heap in a buffer is freed twice.
MISUSE(pool_heap_buffer_double_free) {
  static char buffer[1 << 20];
  tarn::Heap heap({.name = "room", .buffer = buffer, .buffer_bytes = sizeof buffer});
  void* const kept = heap.allocate(100);
  void* const block = heap.allocate(100);
  must_die_with("double free in 'room'", block);
  free(opaque(block));
  free(opaque(block));
  heap.deallocate(kept);
}

// A block of a heap is freed twice.
MISUSE(pool_heap_double_free) {
  tarn::Heap heap("room");
  void* const kept = heap.allocate(100);
  void* const block = heap.allocate(100);
  must_die_with("double free in 'room'", block);
  heap.deallocate(opaque(block));
  heap.deallocate(opaque(block));
  heap.deallocate(kept);
}

// A block of a heap is freed by free, twice.
MISUSE(pool_heap_double_free_by_free) {
  tarn::Heap heap("room");
  void* const kept = heap.allocate(100);
  void* const block = heap.allocate(100);
  must_die_with("double free in 'room'", block);
  free(opaque(block));
  free(opaque(block));
  heap.deallocate(kept);
}

// Two threads free one block of a heap that many threads use.
MISUSE(pool_heap_double_free_by_two_threads) {
  tarn::Heap heap("room");
  std::vector<void*> kept;
  for (int i = 0; i < 1000; ++i) kept.push_back(heap.allocate(100));
  take_turns([&] { heap.deallocate(heap.allocate(100)); });
  void* const block = heap.allocate(100);
  must_die_with("double free in 'room'", block);
  std::thread([&] {
    heap.deallocate(opaque(block));
    heap.deallocate(kept[0]);
  }).join();
  std::thread([&] { heap.deallocate(opaque(block)); }).join();
}

// A heap ends before a heap that lies in it.
MISUSE(pool_heap_end_around_a_heap) {
  tarn::Heap outer("server");
  tarn::Heap inner({.name = "room", .parent = &outer});
  must_die_with("end of a heap with a heap in it in 'server'", &outer);
  outer.destroy();
}

// A heap is given a block of malloc's.
MISUSE(pool_heap_foreign) {
  tarn::Heap heap("room");
  void* const block = opaque(malloc(100));
  must_die_with("free of a pointer that is no block of the heap in 'room'", block);
  heap.deallocate(block);
}

// A block outlives its heap.
MISUSE(pool_heap_free_after_destroy) {
  tarn::Heap heap("room");
  void* const block = heap.allocate(100);
  heap.destroy();
  must_die_with("free of a block of a heap that has ended", block);
  heap.deallocate(opaque(block));
}

// A heap is given a pointer into a block.
MISUSE(pool_heap_interior) {
  tarn::Heap heap("room");
  char* const block = static_cast<char*>(heap.allocate(100));
  must_die_with("free of a pointer into a block in 'room'", block + 8);
  heap.deallocate(opaque(block + 8));
}

// A heap is given a pointer into a block of more than 256 KiB, by free.
MISUSE(pool_heap_large_interior) {
  tarn::Heap heap("room");
  char* const block = static_cast<char*>(heap.allocate(1000000));
  must_die_with("free of a pointer into a block in 'room'", block + 65536);
  free(opaque(block + 65536));
}

// A heap is given a block of another one.
MISUSE(pool_heap_other_heaps_block) {
  tarn::Heap heap("room"), other;
  heap.deallocate(heap.allocate(100));
  void* const block = opaque(other.allocate(100));
  must_die_with("free of a pointer that is no block of the heap in 'room'", block);
  heap.deallocate(block);
}

// A block is to grow after its heap has ended.
MISUSE(pool_heap_reallocate_after_destroy) {
  tarn::Heap heap("room");
  void* const block = heap.allocate(100);
  heap.destroy();
  must_die_with("use of a block of a heap that has ended", block);
  static_cast<void>(heap.reallocate(opaque(block), 1000));
}

// A block is freed and then to grow, by realloc.
MISUSE(pool_heap_reallocate_freed) {
  tarn::Heap heap("room");
  void* const kept = heap.allocate(100);
  void* const block = heap.allocate(100);
  must_die_with("double free in 'room'", block);
  heap.deallocate(opaque(block));
  static_cast<void>(realloc(opaque(block), 1000));
  heap.deallocate(kept);
}
