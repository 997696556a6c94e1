// In a build without NDEBUG: a run is freed twice, with another in between.
#include "misuse/checks_frees.h"
//
#include "misuse/misuse.h"
#include "tarn/fixed_pool.h"

int main() {
  tarn::FixedPool pool({.block_bytes = 64, .name = "packets"});
  void* const run = pool.allocate_run(5);
  void* const other = pool.allocate_run(5);
  must_die_with("double free in 'packets'", run);
  pool.deallocate_run(opaque(run), 5);
  pool.deallocate_run(opaque(other), 5);
  pool.deallocate_run(opaque(run), 5);
  abort();
}
