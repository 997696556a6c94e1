/* Takes 128 MiB, a quarter of which it uses, frees them, and then waits until they are the system's again.
   Only one thread is the program's. */
#include <stdio.h>
#include <unistd.h>

#include "process/tasks.h"

static long resident_pages(void) {
  char text[128];
  long all = 0, resident = 0;
  if (read_small_file(AT_FDCWD, "/proc/self/statm", text, sizeof text) <= 0) return 0;
  return sscanf(text, "%ld %ld", &all, &resident) == 2 ? resident : 0;
}

int main(void) {
  const long page_bytes = sysconf(_SC_PAGESIZE), before = resident_pages();
  free_blocks(&malloc, &free, 128, 1 << 18);
  for (int looks = 0; looks < 10000; ++looks) {
    if ((resident_pages() - before) * page_bytes < 8 << 20) return puts("the memory is given back"), 0;
    pause_a_millisecond();
  }
  puts("the memory is still there");
  return 1;
}
