// A run is freed twice, by two threads; it waits for a request of its length.
#include "misuse/misuse.h"
#include "misuse/shared_pool.h"

int main() {
  SharedPackets pool;
  void* const run = pool.allocate_run(20);
  must_die_with("double free in 'packets'", run);
  pool.deallocate_run(opaque(run), 20);
  std::thread([&] { pool.deallocate_run(opaque(run), 20); }).join();
}
