/* A library that is opened with RTLD_DEEPBIND: which malloc does it get? */
#include <stdlib.h>
#include <string.h>

void* take_block(size_t size) {
  void* block = malloc(size);
  return memset(block, 7, size);
}

void give_block(void* block) { free(block); }

void (*address_of_free(void))(void*) { return free; }
