// In a build without NDEBUG: a block of a heap with size classes is freed twice, with another in between.
#include "misuse/checks_frees.h"
//
#include "misuse/misuse.h"
#include "tarn/heap.h"

int main() {
  tarn::Heap heap("room");
  heap.prewarm(1 << 20);
  void* const one = heap.allocate(100);
  void* const other = heap.allocate(100);
  must_die_with("double free in 'room'", one);
  heap.deallocate(opaque(one));
  heap.deallocate(opaque(other));
  heap.deallocate(opaque(one));
  abort();
}
