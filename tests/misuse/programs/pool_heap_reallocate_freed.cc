// A block is freed and then to grow, by realloc.
#include "misuse/misuse.h"
#include "tarn/heap.h"

int main() {
  tarn::Heap heap("room");
  void* const kept = heap.allocate(100);
  void* const block = heap.allocate(100);
  must_die_with("double free in 'room'", block);
  heap.deallocate(opaque(block));
  static_cast<void>(realloc(opaque(block), 1000));
  heap.deallocate(kept);
}
