// A handle is copied byte by byte; one ends, the pool gives its chunk back, and the other ends.
#include "misuse/misuse.h"
#include "tarn/buffer_pool.h"

int main() {
  tarn::BufferPool pool({.name = "packets"});
  tarn::SharedBuffer buffer = pool.allocate_shared(1000);
  must_die_with("double free", buffer.data());
  alignas(tarn::SharedBuffer) char copy[sizeof(tarn::SharedBuffer)];
  memcpy(copy, static_cast<void*>(&buffer), sizeof copy);
  buffer.reset();
  if (pool.release_unused() == 0) return 0;
  reinterpret_cast<tarn::SharedBuffer*>(opaque(&copy[0]))->reset();
}
