/* The general pool from C. */
#include <stdio.h>
#include <string.h>
#include <tarn/tarn.h>
#include <tarn/version.h>

int main(void) {
  void* messages[32];
  size_t count = tarn_allocate_batch(200, 32, messages);
  char* line = tarn_allocate(100); /* NULL and ENOMEM when memory is refused */
  char* longer = NULL;
  int is_same_version = strcmp(tarn_version(), TARN_VERSION_STRING) == 0; /* library and headers */
  tarn_deallocate_batch(messages, count);
  if (line == NULL) return 1;
  strcpy(line, "kept when the block grows");
  longer = tarn_reallocate(line, 1000);
  if (longer == NULL) return 1;
  printf("%s, to %lu bytes\n", longer, (unsigned long)tarn_usable_size(longer));
  tarn_deallocate(longer);
  return count == 32 && is_same_version ? 0 : 1;
}
