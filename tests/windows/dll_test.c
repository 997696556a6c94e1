/* The C API by the DLL. */
#include <stdio.h>
#include <string.h>

#include "tarn/options.h"
#include "tarn/stats.h"
#include "tarn/tarn.h"

int main(void) {
  int i;
  char* blocks[1000];
  for (i = 0; i < 1000; ++i) {
    blocks[i] = tarn_allocate((size_t)i + 1);
    if (blocks[i] == NULL || tarn_usable_size(blocks[i]) < (size_t)i + 1) return 1;
    memset(blocks[i], i, (size_t)i + 1);
  }
  for (i = 0; i < 1000; ++i) {
    if (blocks[i][0] != (char)i || blocks[i][i] != (char)i) return 2;
    tarn_deallocate(blocks[i]);
  }
  return 0;
}
