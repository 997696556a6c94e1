// One block of a run was freed before.
#include "misuse/misuse.h"
#include "tarn/fixed_pool.h"

int main() {
  tarn::FixedPool pool({.block_bytes = 64, .name = "packets"});
  char* const blocks = static_cast<char*>(pool.allocate_run(100));
  must_die_with("double free in 'packets'", blocks + 70 * 64);
  pool.deallocate(opaque(blocks + 70 * 64));
  pool.deallocate_run(opaque(blocks), 100);
}
