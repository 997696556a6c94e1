// A heap is given a block of another one.
#include "misuse/misuse.h"
#include "tarn/heap.h"

int main() {
  tarn::Heap heap("room"), other;
  heap.deallocate(heap.allocate(100));
  void* const block = opaque(other.allocate(100));
  must_die_with("free of a pointer that is no block of the heap in 'room'", block);
  heap.deallocate(block);
}
