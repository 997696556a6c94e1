/* A program with a malloc of its own: reallocarray must come to its realloc, whichever library answers it. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kHeaderBytes = 16, kMemoryBytes = 16 << 20 };

static char memory[kMemoryBytes] __attribute__((aligned(16)));
static size_t used;
static int foreign_blocks;

static int is_own(const void* block) {
  return (const char*)block >= memory && (const char*)block < memory + kMemoryBytes;
}

void* malloc(size_t size) {
  const size_t bytes = (size + kHeaderBytes + 15) & ~(size_t)15;
  if (size > kMemoryBytes || used + bytes > kMemoryBytes) return errno = ENOMEM, NULL;
  char* start = memory + used;
  used += bytes;
  memcpy(start, &size, sizeof size);
  return start + kHeaderBytes;
}

void free(void* block) { foreign_blocks += block != NULL && !is_own(block); }

void* calloc(size_t count, size_t size) {
  void* block = malloc(count * size);
  return block == NULL ? NULL : memset(block, 0, count * size);
}

void* realloc(void* block, size_t size) {
  void* larger = malloc(size);
  if (block == NULL || larger == NULL) return larger;
  if (!is_own(block)) return ++foreign_blocks, larger;
  size_t old_size = 0;
  memcpy(&old_size, (char*)block - kHeaderBytes, sizeof old_size);
  return memcpy(larger, block, old_size < size ? old_size : size);
}

int main(void) {
  volatile size_t too_many = SIZE_MAX / 8;
  char* block = reallocarray(NULL, 10, 10);
  if (!is_own(block)) return puts("reallocarray(NULL) gives another malloc's block"), 1;
  strcpy(block, "contents");
  block = reallocarray(block, 100, 100);
  if (!is_own(block) || strcmp(block, "contents") != 0)
    return puts("reallocarray loses the program's block"), 1;
  if (reallocarray(block, too_many, 16) != NULL || errno != ENOMEM)
    return puts("an overflow is not refused"), 1;
  free(block);
  free(strdup("of the C library"));
  if (foreign_blocks != 0) return printf("%d blocks of another malloc\n", foreign_blocks), 1;
  return 0;
}
