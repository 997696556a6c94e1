// A block that is larger than all sizes of its buffer pool is freed twice.
#include "misuse/misuse.h"
#include "tarn/buffer_pool.h"

int main() {
  tarn::BufferPool pool({.name = "packets"});
  void* const kept = pool.allocate(20000);
  void* const block = pool.allocate(20000);
  must_die_with("double free in 'packets'", block);
  pool.deallocate(opaque(block));
  pool.deallocate(opaque(block));
  pool.deallocate(kept);
}
