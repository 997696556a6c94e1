// A handle is copied when its buffer has 2^31 - 1 of them.
#include "misuse/misuse.h"
#include "tarn/buffer_pool.h"

int main() {
  tarn::BufferPool pool({.name = "packets"});
  tarn::SharedBuffer buffer = pool.allocate_shared(1000);
  *tarn::detail::BufferHandleAccess::handle(buffer).others = tarn::detail::kMostReferences - 2;
  const tarn::SharedBuffer last = buffer;
  if (last.reference_count() != tarn::detail::kMostReferences) return 1;
  must_die_with("too many references to a buffer in 'packets'", buffer.data());
  const tarn::SharedBuffer one_more = buffer;
}
