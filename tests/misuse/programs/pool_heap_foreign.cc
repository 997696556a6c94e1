// A heap is given a block of malloc's.
#include "misuse/misuse.h"
#include "tarn/heap.h"

int main() {
  tarn::Heap heap("room");
  void* const block = opaque(malloc(100));
  must_die_with("free of a pointer that is no block of the heap in 'room'", block);
  heap.deallocate(block);
}
