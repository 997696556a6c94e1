// A buffer pool is given a block of another one that is larger than all sizes.
#include "misuse/misuse.h"
#include "tarn/buffer_pool.h"

int main() {
  tarn::BufferPool pool({.name = "packets"}), other({.name = "files"});
  void* const kept = pool.allocate(100000);
  void* const block = opaque(other.allocate(100000));
  must_die_with("free of a pointer that is no block of the pool in 'packets'", block);
  pool.deallocate(block);
  pool.deallocate(kept);
}
