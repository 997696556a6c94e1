// A fixed pool is given a pointer into a block.
#include "misuse/misuse.h"
#include "tarn/fixed_pool.h"

int main() {
  tarn::FixedPool pool({.block_bytes = 64, .name = "packets"});
  char* const block = static_cast<char*>(pool.allocate());
  must_die_with("free of a pointer into a block in 'packets'", block + 16);
  pool.deallocate(opaque(block + 16));
}
