// The same, in a process whose threads have magazines.
#include <thread>

#include "misuse/misuse.h"
#include "tarn/buffer_pool.h"

int main() {
  tarn::BufferPool pool({.name = "packets"});
  for (int turn = 0; turn < 64; ++turn) {
    pool.deallocate(pool.allocate(1000));
    std::thread([&] { pool.deallocate(pool.allocate(1000)); }).join();
  }
  const tarn::SharedBuffer buffer = pool.allocate_shared(1000), other = buffer;
  must_die_with(checked_or("free of a buffer that handles refer to in 'packets'", "double free in 'packets'"),
                buffer.data());
  pool.deallocate(opaque(other.data()));
}
