// A fixed pool with magazines is given a pointer into a block.
#include "misuse/misuse.h"
#include "misuse/shared_pool.h"

int main() {
  SharedPackets pool;
  char* const block = static_cast<char*>(pool.allocate());
  must_die_with("free of a pointer into a block in 'packets'", block + 16);
  pool.deallocate(opaque(block + 16));
}
