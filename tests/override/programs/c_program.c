/* A C program with the library linked in, dynamically or statically: malloc and the library's own functions
 * give each other's blocks back. It says which malloc it runs on: only ours has blocks of a certain size. */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tarn/tarn.h"

static void* work(void* argument) {
  for (int i = 0; i < 20000; ++i) free(malloc((size_t)i % 3000));
  return argument;
}

int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);

  tarn_deallocate(malloc(100));
  free(tarn_allocate(100));
  free(tarn_allocate_aligned(100, 4096));
  char* text = strdup("text of the C library");
  text = tarn_reallocate(text, 1000000);
  puts(text);
  free(text);
  char* line = NULL;
  size_t capacity = 0;
  FILE* file = fopen("/proc/self/maps", "r");
  while (getline(&line, &capacity, file) > 0) {
  }
  fclose(file);
  printf("%s\n", malloc_usable_size(line) == tarn_usable_size(line) ? "one pool" : "two pools");
  free(line);
  printf("%s\n", tarn_version());
  return 0;
}
