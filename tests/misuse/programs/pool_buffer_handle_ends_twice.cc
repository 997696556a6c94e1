// A handle is copied byte by byte, and both end.
#include "misuse/misuse.h"
#include "tarn/buffer_pool.h"

int main() {
  tarn::BufferPool pool({.name = "packets"});
  tarn::SharedBuffer buffer = pool.allocate_shared(1000);
  must_die_with("double free in 'packets'", buffer.data());
  alignas(tarn::SharedBuffer) char copy[sizeof(tarn::SharedBuffer)];
  memcpy(copy, static_cast<void*>(&buffer), sizeof copy);
  buffer.reset();
  reinterpret_cast<tarn::SharedBuffer*>(opaque(&copy[0]))->reset();
}
