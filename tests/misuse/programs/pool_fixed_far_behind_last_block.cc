// So is an address at the end of the chunk's pages.
#include "misuse/misuse.h"
#include "tarn/fixed_pool.h"

int main() {
  tarn::FixedPool pool({.block_bytes = 8, .alignment = 8, .blocks_per_chunk = 10, .name = "packets"});
  char* const blocks = static_cast<char*>(pool.allocate_run(10));
  must_die_with("free of a pointer that is no block of the pool in 'packets'", blocks + 8000 * 8);
  pool.deallocate(opaque(blocks + 8000 * 8));
}
