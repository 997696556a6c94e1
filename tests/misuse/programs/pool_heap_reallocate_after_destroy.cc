// A block is to grow after its heap has ended.
#include "misuse/misuse.h"
#include "tarn/heap.h"

int main() {
  tarn::Heap heap("room");
  void* const block = heap.allocate(100);
  heap.destroy();
  must_die_with("use of a block of a heap that has ended", block);
  static_cast<void>(heap.reallocate(opaque(block), 1000));
}
