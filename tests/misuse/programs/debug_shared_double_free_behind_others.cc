// In a build without NDEBUG: a block of a shared fixed pool is freed twice, with so many others in between
// that it has returned to its slab.
#include "misuse/checks_frees.h"
//
#include "misuse/misuse.h"
#include "tarn/fixed_pool.h"

int main() {
  constexpr int kCount = 20000;
  static void* blocks[kCount];
  tarn::SharedFixedPool pool({.block_bytes = 64, .name = "packets"});
  for (void*& block : blocks) block = pool.allocate();
  must_die_with("double free in 'packets'", blocks[0]);
  for (int i = 0; i < kCount; i += 2) pool.deallocate(opaque(blocks[i]));
  pool.deallocate(opaque(blocks[0]));
  abort();
}
