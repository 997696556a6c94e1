// A buffer pool is given a pointer into a block.
#include "misuse/misuse.h"
#include "tarn/buffer_pool.h"

int main() {
  tarn::BufferPool pool({.name = "packets"});
  char* const block = static_cast<char*>(pool.allocate(1000)) + 64;
  must_die_with("free of a pointer into a block in 'packets'", block);
  pool.deallocate(opaque(block));
}
