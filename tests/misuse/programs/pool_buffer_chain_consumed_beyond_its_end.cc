// More bytes of a chain are consumed than it has.
#include "misuse/misuse.h"
#include "tarn/buffer_chain.h"
#include "tarn/buffer_pool.h"

int main() {
  tarn::BufferPool pool({.name = "packets"});
  tarn::BufferChain chain;
  chain.append(pool.allocate_shared(1000));
  chain.append(pool.allocate_shared(1000));
  chain.consume(100);
  must_die_with("more bytes than a chain has are to be consumed or split off", &chain);
  chain.consume(1901);
}
