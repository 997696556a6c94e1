// A fixed pool with magazines is given a block of another pool.
#include "misuse/misuse.h"
#include "misuse/shared_pool.h"

int main() {
  SharedPackets pool;
  tarn::SharedFixedPool other({.block_bytes = 64, .name = "others"});
  void* const block = other.allocate();
  must_die_with("free of a block of 'others' in 'packets'", block);
  pool.deallocate(block);
}
