// A run is freed with a length that reaches into the next one, which is free.
#include "misuse/misuse.h"
#include "tarn/fixed_pool.h"

int main() {
  tarn::FixedPool pool({.block_bytes = 64, .name = "packets"});
  pool.deallocate_run(pool.allocate_run(25), 25);
  char* const run = static_cast<char*>(pool.allocate_run(20));
  void* const next = pool.allocate_run(20);
  must_die_with("double free in 'packets'", run + 20 * 64);
  pool.deallocate_run(opaque(next), 20);
  pool.deallocate_run(opaque(run), 25);
}
