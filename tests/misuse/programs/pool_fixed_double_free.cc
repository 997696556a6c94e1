// A block of a fixed pool is freed twice.
#include "misuse/misuse.h"
#include "tarn/fixed_pool.h"

int main() {
  tarn::FixedPool pool({.block_bytes = 64, .name = "packets"});
  void* const kept = pool.allocate();
  void* const block = pool.allocate();
  must_die_with("double free in 'packets'", block);
  pool.deallocate(opaque(block));
  pool.deallocate(opaque(block));
  pool.deallocate(kept);
}
