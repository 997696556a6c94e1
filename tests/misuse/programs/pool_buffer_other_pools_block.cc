// A buffer pool is given a block of another one.
#include "misuse/misuse.h"
#include "tarn/buffer_pool.h"

int main() {
  tarn::BufferPool pool({.name = "packets"}), other({.name = "files"});
  void* const kept = pool.allocate(100);
  void* const block = opaque(other.allocate(100));
  must_die_with("free of a block of 'files' in 'packets'", block);
  pool.deallocate(block);
  pool.deallocate(kept);
}
