#include "misuse/misuse.h"
#include "tarn/pools.h"

// A pool of C's is destroyed twice.
MISUSE(pool_c_destroyed_twice) {
  tarn_fixed_pool_options options{};
  options.block_bytes = 64;
  tarn_fixed_pool* const pool = tarn_fixed_pool_create(&options, sizeof options);
  tarn_fixed_pool_destroy(pool);
  must_die_with("end of a pool that has ended", pool);
  tarn_fixed_pool_destroy(opaque(pool));
}

// A block of a fixed pool of C's is freed twice.
MISUSE(pool_c_double_free) {
  tarn_fixed_pool_options options{};
  options.block_bytes = 64;
  options.name = "packets";
  tarn_fixed_pool* const pool = tarn_fixed_pool_create(&options, sizeof options);
  void* const block = tarn_fixed_pool_allocate(pool);
  tarn_fixed_pool_deallocate(pool, block);
  must_die_with("double free in 'packets'", block);
  tarn_fixed_pool_deallocate(pool, opaque(block));
}

// A heap of C's is destroyed while another lies in it.
MISUSE(pool_c_heap_destroyed_around_a_heap) {
  tarn_heap_options options{};
  options.name = "tenant";
  tarn_heap* const outer = tarn_heap_create(&options, sizeof options);
  options.parent = outer;
  options.name = "session";
  if (tarn_heap_create(&options, sizeof options) == nullptr) return;
  must_die_with("end of a heap with a heap in it in 'tenant'", outer);
  tarn_heap_destroy(opaque(outer));
}
