// The same, of a buffer larger than all sizes: its count serves the next buffer by then.
#include "misuse/misuse.h"
#include "tarn/buffer_pool.h"

int main() {
  tarn::BufferPool pool({.name = "packets"});
  tarn::SharedBuffer buffer = pool.allocate_shared(100000);
  must_die_with("double free", buffer.data());
  alignas(tarn::SharedBuffer) char copy[sizeof(tarn::SharedBuffer)];
  memcpy(copy, static_cast<void*>(&buffer), sizeof copy);
  buffer.reset();
  const tarn::SharedBuffer next = pool.allocate_shared(3000000);
  reinterpret_cast<tarn::SharedBuffer*>(opaque(&copy[0]))->reset();
}
