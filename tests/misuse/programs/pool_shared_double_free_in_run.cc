// One block of a run was freed before, and lies in a magazine.
#include "misuse/misuse.h"
#include "misuse/shared_pool.h"

int main() {
  SharedPackets pool;
  char* const blocks = static_cast<char*>(pool.allocate_run(100));
  must_die_with("double free in 'packets'", blocks + 70 * 64);
  pool.deallocate(opaque(blocks + 70 * 64));
  pool.deallocate_run(opaque(blocks), 100);
}
