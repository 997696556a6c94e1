/* A small program without privileges locks its memory, within the limit any user has; then a lock of all
   future memory holds for malloc as well. Alone it tests the system's malloc, as the control. */
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define EXPECT(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))
enum { kSkipped = 77, kKiB = 1024, kMiB = 1024 * 1024 };

static void fail(const char* condition, int line) {
  fprintf(stderr, "line %d: %s: %s\n", line, condition, strerror(errno));
  exit(1);
}

static long locked_bytes(void) {
  char line[256];
  long kilobytes = -1;
  FILE* status = fopen("/proc/self/status", "r");
  while (fgets(line, sizeof line, status) != NULL) sscanf(line, "VmLck: %ld", &kilobytes);
  fclose(status);
  return kilobytes * kKiB;
}

static void become_a_user_with(rlim_t bytes) {
  const struct rlimit limit = {bytes, bytes};
  EXPECT(setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
  if (geteuid() == 0) EXPECT(setgroups(0, NULL) == 0 && setuid(65534) == 0);
}

static void lock_and_grow(void) {
  EXPECT(mlockall(MCL_CURRENT | MCL_FUTURE) == 0);
  EXPECT(locked_bytes() > 0);
  for (int i = 0; i < 100; ++i) EXPECT(malloc(1000) != NULL);
  EXPECT(malloc(100 * kMiB) == NULL && errno == ENOMEM);
  EXPECT(malloc(1000) != NULL);
  EXPECT(munlockall() == 0);
  EXPECT(locked_bytes() == 0);
  EXPECT(malloc(100 * kMiB) != NULL);
  EXPECT(mlockall(MCL_CURRENT) == -1 && errno == ENOMEM);
  EXPECT(locked_bytes() == 0);
  EXPECT(mlockall(MCL_FUTURE | MCL_ONFAULT) == 0);
  EXPECT(malloc(100 * kMiB) == NULL);
  EXPECT(munlockall() == 0);
}

int main(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_MEMLOCK, &limit);
  if (limit.rlim_max < 8 * kMiB) {
    puts("skipped: no more than the least of memory may be locked here");
    return kSkipped;
  }
  free(malloc(100));
  become_a_user_with(8 * kMiB);
  lock_and_grow();
  become_a_user_with(64 * kKiB);
  EXPECT(mlockall(MCL_CURRENT) == -1 && errno == ENOMEM);
  become_a_user_with(0);
  EXPECT(mlockall(MCL_CURRENT) == -1 && errno == EPERM);
  EXPECT(mlockall(MCL_FUTURE) == -1 && errno == EPERM);
  return 0;
}
