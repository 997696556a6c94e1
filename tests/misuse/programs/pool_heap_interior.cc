// A heap is given a pointer into a block.
#include "misuse/misuse.h"
#include "tarn/heap.h"

int main() {
  tarn::Heap heap("room");
  char* const block = static_cast<char*>(heap.allocate(100));
  must_die_with("free of a pointer into a block in 'room'", block + 8);
  heap.deallocate(opaque(block + 8));
}
