// A batch given back to a buffer pool has a buffer that several handles refer to.
#include "misuse/misuse.h"
#include "tarn/buffer_pool.h"

int main() {
  tarn::BufferPool pool({.name = "packets"});
  const tarn::SharedBuffer buffer = pool.allocate_shared(1000), other = buffer;
  void* blocks[] = {pool.allocate(1000), nullptr, other.data()};
  must_die_with(checked_or("free of a buffer that handles refer to in 'packets'", "double free in 'packets'"),
                buffer.data());
  pool.deallocate_batch(blocks, 3);
}
