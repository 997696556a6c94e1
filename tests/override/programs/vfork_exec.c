/* Children by vfork and exec, by posix_spawn and by system, while this process has blocks of all sizes. */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static int status_of(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

int main(void) {
  char* const arguments[] = {"sh", "-c", "exit 0", NULL};
  int sum = 0;
  for (int i = 0; i < 30; ++i) {
    char* block = malloc((size_t)i * 30000);
    memset(block, i, (size_t)i * 30000);
    pid_t child = vfork();
    if (child == 0) {
      execv("/bin/sh", arguments);
      _exit(127);
    }
    sum += status_of(child);
    if (posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ) == 0) sum += status_of(child);
    sum += system("exit 0");
    for (int j = 0; j < i * 30000; ++j) sum += block[j] != i;
    free(block);
  }
  printf("%d\n", sum);
  return sum;
}
