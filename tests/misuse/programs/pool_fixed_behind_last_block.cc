// The address behind a chunk's last block is no block, though the chunk's pages go on, and the last block is
// free.
#include "misuse/misuse.h"
#include "tarn/fixed_pool.h"

int main() {
  tarn::FixedPool pool({.block_bytes = 64, .blocks_per_chunk = 10, .name = "packets"});
  char* const blocks = static_cast<char*>(pool.allocate_run(10));
  must_die_with("free of a pointer that is no block of the pool in 'packets'", blocks + 10 * 64);
  pool.deallocate(opaque(blocks + 9 * 64));
  pool.deallocate(opaque(blocks + 10 * 64));
}
