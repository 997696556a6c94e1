/* A static program that gives its privileges up: the library's functions are in front of libc's there too. */
#define _GNU_SOURCE
#include <grp.h>
#include <sys/prctl.h>

#include "process/tasks.h"

static int drop(void) {
  const gid_t nobody = 65534;
  if (setgroups(1, &nobody) != 0 || setgid(nobody) != 0 || setuid(nobody) != 0) return 0;
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(SYS_setresuid, nobody, nobody, nobody) == 0;
}

int main(void) {
  if (geteuid() != 0) return puts("needs root: skipped"), kSkipped;
  const int tasks = open_tasks();
  wake_helper(&malloc, &free);
  if (!drop()) return puts("refused"), 1;
  const int at_once = some_task_has_more(tasks);
  wake_helper(&malloc, &free);
  return at_once || some_task_has_more(tasks);
}
