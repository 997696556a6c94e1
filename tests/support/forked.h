// A child that is made by fork alone and shares its parent's output. child.h has one with a time limit, whose
// output is the answer.
#pragma once
#include <sys/wait.h>
#include <unistd.h>

namespace tarn::test {

/// Waits for the end of a child. \returns its status as waitpid gives it, -1 where there is no such child.
inline int status_of(pid_t child) {
  int status = -1;
  return waitpid(child, &status, 0) == child ? status : -1;
}

/// Runs `work` in a child, which ends with its answer by _exit. \returns the child's status, as above.
template <typename Work>
int forked(Work work, pid_t (*make_child)() = fork) {
  const pid_t child = make_child();
  if (child < 0) return -1;
  if (child == 0) _exit(work());
  return status_of(child);
}

}  // namespace tarn::test
