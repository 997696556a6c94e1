// A block of a run is freed again, alone; the run waits for a request of its length.
#include "misuse/misuse.h"
#include "tarn/fixed_pool.h"

int main() {
  tarn::FixedPool pool({.block_bytes = 64, .name = "packets"});
  char* const run = static_cast<char*>(pool.allocate_run(20));
  must_die_with("double free in 'packets'", run + 3 * 64);
  pool.deallocate_run(opaque(run), 20);
  pool.deallocate(opaque(run + 3 * 64));
}
