// Two threads that own nothing free the same block.
#include <pthread.h>

#include "misuse/misuse.h"

static void* free_it(void* block) {
  free(opaque(block));
  return nullptr;
}

int main() {
  void* const block = opaque(malloc(100));
  must_die_with("double free", block);
  for (int i = 0; i < 2; ++i) {
    pthread_t thread;
    pthread_create(&thread, nullptr, free_it, block);
    pthread_join(thread, nullptr);
  }
  free_many_others(100);
}
