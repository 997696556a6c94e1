// A block of a fixed pool with magazines is freed twice, the second time after many others.
#include "misuse/misuse.h"
#include "misuse/shared_pool.h"

int main() {
  SharedPackets pool;
  void* const block = pool.allocate();
  must_die_with("double free in 'packets'", block);
  pool.deallocate(opaque(block));
  void* others[1000];
  for (void*& other : others) other = pool.allocate();
  for (void* other : others)
    if (other != block) pool.deallocate(other);
  pool.deallocate(opaque(block));
  pool.deallocate(opaque(block));
}
