// A handle whose buffer has ended is copied, and the block is handed out while it has a reference.
#include "misuse/misuse.h"
#include "tarn/buffer_pool.h"

int main() {
  tarn::BufferPool pool({.largest_count = 1, .name = "packets"});
  tarn::SharedBuffer buffer = pool.allocate_shared(1000);
  must_die_with("copy of a handle whose buffer has ended in 'packets'", buffer.data());
  alignas(tarn::SharedBuffer) char ended[sizeof(tarn::SharedBuffer)];
  memcpy(ended, static_cast<void*>(&buffer), sizeof ended);
  buffer.reset();
  const tarn::SharedBuffer copy(*reinterpret_cast<tarn::SharedBuffer*>(opaque(&ended[0])));
  pool.allocate_shared(1000);
}
