// A batch given back to a buffer pool has a block twice.
#include "misuse/misuse.h"
#include "tarn/buffer_pool.h"

int main() {
  tarn::BufferPool pool({.name = "packets"});
  void* blocks[20];
  if (pool.allocate_batch(100, 20, blocks) != 20) return 1;
  blocks[19] = blocks[3];
  must_die_with("double free in 'packets'", blocks[3]);
  pool.deallocate_batch(blocks, 20);
}
