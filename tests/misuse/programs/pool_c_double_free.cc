// A block of a fixed pool of C's is freed twice.
#include "misuse/misuse.h"
#include "tarn/pools.h"

int main() {
  tarn_fixed_pool_options options{};
  options.block_bytes = 64;
  options.name = "packets";
  tarn_fixed_pool* const pool = tarn_fixed_pool_create(&options, sizeof options);
  void* const block = tarn_fixed_pool_allocate(pool);
  tarn_fixed_pool_deallocate(pool, block);
  must_die_with("double free in 'packets'", block);
  tarn_fixed_pool_deallocate(pool, opaque(block));
}
