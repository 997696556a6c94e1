// A single-thread pool is used by a second thread, which is looked for.
#define TARN_CHECK_THREADS 1
#include <pthread.h>

#include "misuse/misuse.h"
#include "tarn/fixed_pool.h"

static tarn::FixedPool* pool;

static void* use(void*) { return pool->allocate(); }

int main() {
  static tarn::FixedPool made({.block_bytes = 64, .name = "packets"});
  pool = &made;
  made.allocate();
  made.detach_from_thread();
  pthread_t thread;
  pthread_create(&thread, nullptr, use, nullptr);  // it may, now
  pthread_join(thread, nullptr);
  // The one before might leave its place to the next.
  made.detach_from_thread();
  made.allocate();
  must_die_with("use of a single-thread pool by a second thread in 'packets'", pool);
  pthread_create(&thread, nullptr, use, nullptr);
  pthread_join(thread, nullptr);
}
