// A buffer with one handle is freed as a plain block; the handle's end is then the second free.
#include "misuse/misuse.h"
#include "tarn/buffer_pool.h"

int main() {
  tarn::BufferPool pool({.name = "packets"});
  const tarn::SharedBuffer buffer = pool.allocate_shared(1000);
  must_die_with("double free in 'packets'", buffer.data());
  pool.deallocate(opaque(buffer.data()));
}
