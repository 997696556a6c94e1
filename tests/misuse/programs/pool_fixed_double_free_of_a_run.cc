// A run is freed twice; it waits for a request of its length.
#include "misuse/misuse.h"
#include "tarn/fixed_pool.h"

int main() {
  tarn::FixedPool pool({.block_bytes = 64, .name = "packets"});
  pool.deallocate_run(pool.allocate_run(20), 20);
  void* const run = pool.allocate_run(20);
  must_die_with("double free in 'packets'", run);
  pool.deallocate_run(opaque(run), 20);
  pool.deallocate_run(opaque(run), 20);
}
