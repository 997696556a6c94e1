// A block of a fixed pool is freed through the pool, and again through the general one.
#include "misuse/misuse.h"
#include "tarn/fixed_pool.h"
#include "tarn/memory_pool.h"

int main() {
  tarn::FixedPool pool({.block_bytes = 64, .name = "packets"});
  void* const kept = pool.allocate();
  void* const block = pool.allocate();
  must_die_with("double free in 'packets'", block);
  pool.deallocate(opaque(block));
  tarn::deallocate(opaque(block));
  pool.deallocate(kept);
}
