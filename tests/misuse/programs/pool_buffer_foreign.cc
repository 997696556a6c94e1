// A buffer pool is given a block of malloc.
#include "misuse/misuse.h"
#include "tarn/buffer_pool.h"

int main() {
  tarn::BufferPool pool({.name = "packets"});
  pool.deallocate(pool.allocate(100));
  void* const block = opaque(malloc(100));
  must_die_with("free of a pointer that is no block of the pool in 'packets'", block);
  pool.deallocate(block);
}
