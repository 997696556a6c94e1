// A block of a buffer pool is freed twice.
#include "misuse/misuse.h"
#include "tarn/buffer_pool.h"

int main() {
  tarn::BufferPool pool({.name = "packets"});
  void* const block = pool.allocate(100);
  must_die_with("double free in 'packets'", block);
  pool.deallocate(opaque(block));
  pool.deallocate(opaque(block));
}
