// A heap is given a pointer into a block of more than 256 KiB, by free.
#include "misuse/misuse.h"
#include "tarn/heap.h"

int main() {
  tarn::Heap heap("room");
  char* const block = static_cast<char*>(heap.allocate(1000000));
  must_die_with("free of a pointer into a block in 'room'", block + 65536);
  free(opaque(block + 65536));
}
