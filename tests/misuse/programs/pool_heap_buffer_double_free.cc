// A block of a heap in a buffer is freed twice.
#include "misuse/misuse.h"
#include "tarn/heap.h"

int main() {
  static char buffer[1 << 20];
  tarn::Heap heap({.name = "room", .buffer = buffer, .buffer_bytes = sizeof buffer});
  void* const kept = heap.allocate(100);
  void* const block = heap.allocate(100);
  must_die_with("double free in 'room'", block);
  free(opaque(block));
  free(opaque(block));
  heap.deallocate(kept);
}
