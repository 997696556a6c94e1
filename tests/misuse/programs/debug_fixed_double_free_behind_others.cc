// In a build without NDEBUG: a block of a fixed pool is freed twice, with others in between.
#include "misuse/checks_frees.h"
//
#include "misuse/misuse.h"
#include "tarn/fixed_pool.h"

int main() {
  tarn::FixedPool pool({.block_bytes = 64, .name = "packets"});
  void* blocks[40];
  for (void*& block : blocks) block = pool.allocate();
  must_die_with("double free in 'packets'", blocks[0]);
  for (int i = 0; i < 12; ++i) pool.deallocate(opaque(blocks[i]));
  pool.deallocate(opaque(blocks[0]));
  abort();
}
