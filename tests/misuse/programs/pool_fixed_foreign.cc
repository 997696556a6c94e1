// A fixed pool is given a block of malloc's.
#include "misuse/misuse.h"
#include "tarn/fixed_pool.h"

int main() {
  tarn::FixedPool pool({.block_bytes = 64, .name = "packets"});
  void* const block = opaque(malloc(64));
  must_die_with("free of a pointer that is no block of the pool in 'packets'", block);
  pool.deallocate(block);
}
