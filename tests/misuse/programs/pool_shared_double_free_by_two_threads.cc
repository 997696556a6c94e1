// Two threads free one block of a fixed pool with magazines.
#include "misuse/misuse.h"
#include "misuse/shared_pool.h"
#include "tarn/memory_pool.h"

int main() {
  SharedPackets pool;
  void* const block = pool.allocate();
  must_die_with("double free in 'packets'", block);
  std::thread([&] { pool.deallocate(opaque(block)); }).join();
  std::thread([&] { tarn::deallocate(opaque(block)); }).join();
}
