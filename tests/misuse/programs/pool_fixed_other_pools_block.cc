// A fixed pool is given a block of another one of the same size.
#include "misuse/misuse.h"
#include "tarn/fixed_pool.h"

int main() {
  tarn::FixedPool pool({.block_bytes = 64, .name = "packets"}), other({.block_bytes = 64, .name = "events"});
  pool.allocate();
  void* const block = opaque(other.allocate());
  must_die_with("free of a block of 'events' in 'packets'", block);
  pool.deallocate(block);
  pool.release_unused();
}
