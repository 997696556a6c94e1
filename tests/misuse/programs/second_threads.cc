// Compiled as in a build without NDEBUG, whose single-thread pools look for a second thread.
#define TARN_CHECK_THREADS 1
#include <pthread.h>

#include "misuse/misuse.h"
#include "tarn/fixed_pool.h"

static void* use(void* pool) { return static_cast<tarn::FixedPool*>(pool)->allocate(); }

// A single-thread pool is used by a second thread.
MISUSE(pool_fixed_second_thread) {
  tarn::FixedPool pool({.name = "packets", .block_bytes = 64});
  pool.allocate();
  pool.detach_from_thread();
  pthread_t thread;
  pthread_create(&thread, nullptr, use, &pool);  // it may, now
  pthread_join(thread, nullptr);
  // The one before might leave its place to the next.
  pool.detach_from_thread();
  pool.allocate();
  must_die_with("use of a single-thread pool by a second thread in 'packets'", &pool);
  pthread_create(&thread, nullptr, use, &pool);
  pthread_join(thread, nullptr);
}

// A thread makes a pool ready, another uses it, and the first clears it.
MISUSE(pool_fixed_second_thread_clears) {
  tarn::FixedPool pool({.name = "packets", .block_bytes = 64});
  pool.reserve(100);
  std::thread([&] { pool.deallocate(pool.allocate()); }).join();
  must_die_with("use of a single-thread pool by a second thread in 'packets'", &pool);
  pool.clear();
}
