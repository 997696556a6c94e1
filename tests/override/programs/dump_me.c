/* Has 16 MiB of blocks and has given back as many MiB as its argument says, then waits for a line: "abort"
   ends it with a core file. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMiB = 1 << 20 };

static void* blocks[1 << 16];

int main(int count, char** arguments) {
  char line[16] = "";
  void* freed[1024];
  const int freed_count = count == 2 ? atoi(arguments[1]) % 1025 : 0;
  for (int i = 0; i < 1 << 16; ++i) memset(blocks[i] = malloc(256), i, 256);
  for (int i = 0; i < freed_count; ++i) memset(freed[i] = malloc(kMiB), i, kMiB);
  for (int i = 0; i < freed_count; ++i) free(freed[i]);
  malloc_trim(0);
  puts("ready");
  fflush(stdout);
  if (fgets(line, sizeof line, stdin) != NULL && strcmp(line, "abort\n") == 0) abort();
  return blocks[77] == NULL;
}
