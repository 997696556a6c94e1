// A block outlives its heap.
#include "misuse/misuse.h"
#include "tarn/heap.h"

int main() {
  tarn::Heap heap("room");
  void* const block = heap.allocate(100);
  heap.destroy();
  must_die_with("free of a block of a heap that has ended", block);
  heap.deallocate(opaque(block));
}
