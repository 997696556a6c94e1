// More blocks are given back than lie behind the pointer.
#include "misuse/misuse.h"
#include "tarn/fixed_pool.h"

int main() {
  tarn::FixedPool pool({.block_bytes = 64, .blocks_per_chunk = 100, .name = "packets"});
  char* const blocks = static_cast<char*>(pool.allocate_run(100));
  must_die_with("free of a pointer that is no block of the pool in 'packets'", blocks + 90 * 64);
  pool.deallocate_run(opaque(blocks + 90 * 64), opaque(11ul));
}
