/* A library with a lock that its fork handlers take. It is initialised before a library that is preloaded. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void take_library_lock(void) { pthread_mutex_lock(&lock); }
void let_library_lock_go(void) { pthread_mutex_unlock(&lock); }

__attribute__((constructor)) static void watch_forks(void) {
  pthread_atfork(take_library_lock, let_library_lock_go, let_library_lock_go);
}
