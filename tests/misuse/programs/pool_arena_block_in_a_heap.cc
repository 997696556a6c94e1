// A block of an arena in a heap is freed, which is the heap's to judge: it lies in a block of the heap.
#include "misuse/misuse.h"
#include "tarn/arena.h"
#include "tarn/heap.h"

int main() {
  tarn::Heap heap("room");
  tarn::Arena arena({.heap = &heap});
  void* const block = arena.allocate(100);
  must_die_with("free of a pointer into a block in 'room'", block);
  free(opaque(block));
}
