// A chunk's blocks may begin behind its pages' begin; what lies before the first is no block.
#include "misuse/misuse.h"
#include "tarn/fixed_pool.h"

int main() {
  tarn::FixedPool pool({.block_bytes = 1024, .blocks_per_chunk = 10, .name = "packets"});
  char* block = nullptr;
  do block = static_cast<char*>(pool.allocate_run(10));
  while (reinterpret_cast<unsigned long>(block) % 65536 == 0);
  char* const first_page = block - reinterpret_cast<unsigned long>(block) % 65536;
  must_die_with("free of a pointer that is no block of the pool in 'packets'", first_page);
  pool.deallocate(opaque(first_page));
}
