// The same, in a process with threads; through a slice, which names the start of its block.
#include <thread>

#include "misuse/misuse.h"
#include "tarn/buffer_pool.h"

int main() {
  tarn::BufferPool pool({.name = "packets"});
  tarn::SharedBuffer buffer = pool.allocate_shared(100000);
  *tarn::detail::BufferHandleAccess::handle(buffer).others = tarn::detail::kMostReferences - 1;
  must_die_with("too many references to a buffer in 'packets'", buffer.data());
  std::thread([&] {
    tarn::SharedBuffer part(buffer.slice(100, 100));
    part.slice(1, 1);
  }).join();
}
