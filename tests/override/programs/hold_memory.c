/* Holds so many MiB in small blocks, tells so, and waits to be looked at. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kBlock = 1000, kBlocksPerMiB = 1024 * 1024 / kBlock };
static void* volatile last;

int main(int count, char** arguments) {
  const long blocks = count > 1 ? atol(arguments[1]) * kBlocksPerMiB : 1;
  for (long i = 0; i < blocks; ++i) memset(last = malloc(kBlock), 1, kBlock);
  puts("ready");
  fflush(stdout);
  pause();
  return 0;
}
