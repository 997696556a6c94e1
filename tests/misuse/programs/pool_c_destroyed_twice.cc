// A pool of C's is destroyed twice.
#include "misuse/misuse.h"
#include "tarn/pools.h"

int main() {
  tarn_fixed_pool_options options{};
  options.block_bytes = 64;
  tarn_fixed_pool* const pool = tarn_fixed_pool_create(&options, sizeof options);
  tarn_fixed_pool_destroy(pool);
  must_die_with("end of a pool that has ended", pool);
  tarn_fixed_pool_destroy(opaque(pool));
}
