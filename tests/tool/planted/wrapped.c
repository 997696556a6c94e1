// A C program's own wrappers of malloc, three deep.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMostLines = 1 << 22 };

char* g_lines[kMostLines];

__attribute__((noinline)) void* zmalloc(size_t bytes) {
  void* block = malloc(bytes + 8);
  if (block == NULL) abort();
  return block;
}

__attribute__((noinline)) void* xcalloc(size_t count, size_t bytes) {
  void* block = zmalloc(count * bytes);
  memset(block, 0, count * bytes);
  return block;
}

__attribute__((noinline)) char* xstrdup(const char* text) {
  char* copy = xcalloc(strlen(text) + 1, 1);
  strcpy(copy, text);
  return copy;
}

__attribute__((noinline)) char* planted_read_config(int line) {
  char text[64];
  snprintf(text, sizeof text, "setting.%d = a value of some length", line);
  return g_lines[line % kMostLines] = xstrdup(text);
}
