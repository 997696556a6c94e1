// A chain is copied byte by byte, and both end.
#include "misuse/misuse.h"
#include "tarn/buffer_chain.h"
#include "tarn/buffer_pool.h"

int main() {
  tarn::BufferPool pool({.name = "packets"});
  tarn::BufferChain chain;
  for (size_t bytes = 500; bytes < 503; ++bytes) chain.append(pool.allocate_shared(bytes));
  must_die_with("double free in 'packets'", chain[0].data());
  alignas(tarn::BufferChain) char copy[sizeof(tarn::BufferChain)];
  memcpy(copy, static_cast<void*>(&chain), sizeof copy);
  chain.clear();
  reinterpret_cast<tarn::BufferChain*>(opaque(&copy[0]))->clear();
}
