/* Some blocks of all kinds, taken and given back by ALLOCATE and DEALLOCATE: malloc and free, unless defined.
 */
#pragma once
#include <stdlib.h>
#include <string.h>

#if !defined(ALLOCATE)
#define ALLOCATE malloc
#define DEALLOCATE free
#else
#include "tarn/tarn.h"
#endif

static void use_blocks(void) {
  enum { kBlocks = 600 };
  void* blocks[kBlocks];
  for (size_t i = 0; i < kBlocks; ++i) {
    const size_t bytes = i % 100 == 0 ? 1 << 20 : 64 + i % 500 * 8;
    if ((blocks[i] = ALLOCATE(bytes)) == NULL) abort();
    memset(blocks[i], 1, bytes < 4096 ? bytes : 4096);
  }
  for (size_t i = 0; i < kBlocks; ++i) DEALLOCATE(blocks[i]);
}
