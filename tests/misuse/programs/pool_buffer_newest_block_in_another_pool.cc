// A buffer pool is given a block of another one, where its own newest block has been.
#include "misuse/misuse.h"
#include "tarn/buffer_pool.h"

int main() {
  tarn::BufferPool pool({.name = "packets"}), other({.name = "files"});
  void* const kept = pool.allocate(1000);
  pool.deallocate(pool.allocate(100));
  void* const newest = pool.allocate(100);  // one that was freed before
  pool.deallocate(newest);
  pool.release_unused();
  void* block = other.allocate(100);
  for (int i = 0; i < 1000 && block != newest; ++i) block = other.allocate(100);
  must_die_with("free of a block of 'files' in 'packets'", block);
  pool.deallocate(opaque(block));
  pool.deallocate(kept);
}
