// A slice of more bytes than a handle has.
#include "misuse/misuse.h"
#include "tarn/buffer_pool.h"

int main() {
  tarn::BufferPool pool({.name = "packets"});
  const tarn::SharedBuffer buffer = pool.allocate_shared(1000);
  must_die_with("slice beyond the end of a buffer in 'packets'", buffer.data());
  buffer.slice(0, 1000).slice(1000, 0).slice(0, 1);
}
