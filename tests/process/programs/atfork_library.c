/* A library that registers fork handlers before anything was allocated. */
#include <pthread.h>

#include "process/programs/blocks.h"

__attribute__((constructor)) static void watch_forks(void) {
  pthread_atfork(use_blocks, use_blocks, use_blocks);
}
