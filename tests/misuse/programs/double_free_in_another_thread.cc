// A second thread frees a block again that the first has freed.
#include <pthread.h>

#include "misuse/misuse.h"

static void* free_it(void* block) {
  free(opaque(block));
  return nullptr;
}

int main() {
  void* const block = opaque(malloc(100));
  must_die_with("double free", block);
  free(block);
  pthread_t thread;
  pthread_create(&thread, nullptr, free_it, block);
  pthread_join(thread, nullptr);
  free_many_others(100);
}
