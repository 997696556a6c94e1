// A shared fixed pool is given an object on the stack.
#include "misuse/misuse.h"
#include "tarn/fixed_pool.h"

int main() {
  tarn::SharedFixedPool pool({.block_bytes = 64, .name = "packets"});
  pool.allocate();
  char local[64];
  must_die_with("free of a pointer that is no block of the pool in 'packets'", local);
  pool.deallocate(opaque(&local[0]));
}
