// A write past a block reaches the list of a long chain, which lies in a block of the general pool.
#include "misuse/misuse.h"
#include "tarn/buffer_chain.h"
#include "tarn/buffer_pool.h"
#include "tarn/memory_pool.h"

int main() {
  tarn::BufferPool pool({.name = "packets"});
  // The list of up to eight buffers gets the block of its size that was freed last.
  void* const list = tarn::allocate(256);
  tarn::deallocate(list);
  tarn::BufferChain chain;
  for (size_t bytes = 500; bytes < 508; ++bytes) chain.append(pool.allocate_shared(bytes));
  memset(opaque(list), 0x41, 16);
  must_die_with("overwritten record of the library", list);
  chain.consume(500);
}
