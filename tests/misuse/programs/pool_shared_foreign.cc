// A fixed pool with magazines is given a block of malloc's.
#include "misuse/misuse.h"
#include "misuse/shared_pool.h"

int main() {
  SharedPackets pool;
  void* const block = opaque(malloc(64));
  must_die_with("free of a pointer that is no block of the pool in 'packets'", block);
  pool.deallocate(block);
}
