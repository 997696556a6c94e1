// A buffer that several handles refer to is freed as a plain block.
#include "misuse/misuse.h"
#include "tarn/buffer_pool.h"

int main() {
  tarn::BufferPool pool({.name = "packets"});
  const tarn::SharedBuffer buffer = pool.allocate_shared(1000), other = buffer;
  must_die_with(checked_or("free of a buffer that handles refer to in 'packets'", "double free in 'packets'"),
                buffer.data());
  pool.deallocate(opaque(other.data()));
}
