// A thread makes a pool ready, another uses it, and the first clears it.
#define TARN_CHECK_THREADS 1
#include <thread>

#include "misuse/misuse.h"
#include "tarn/fixed_pool.h"

int main() {
  tarn::FixedPool pool({.block_bytes = 64, .name = "packets"});
  pool.reserve(100);
  std::thread([&] { pool.deallocate(pool.allocate()); }).join();
  must_die_with("use of a single-thread pool by a second thread in 'packets'", &pool);
  pool.clear();
}
