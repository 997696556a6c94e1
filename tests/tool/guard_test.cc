#include "system/processes/guard.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "observer/files/outside_wait.h"
#include "system/figures/clock.h"

namespace tarn::tool {
namespace {

/// Runs a command in a process of its own. \returns the status that waitpid gives.
template <typename Work>
int status_of(Work work, int signal_number = 0) {
  int ready[2];
  EXPECT_EQ(pipe(ready), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    EXPECT_NE(std::freopen("/dev/null", "w", stderr), nullptr);
    _exit(run_guarded([&] {
      EXPECT_EQ(write(ready[1], "r", 1), 1);
      return work();
    }));
  }
  char byte;
  EXPECT_EQ(read(ready[0], &byte, 1), 1);
  if (signal_number != 0) kill(pid, signal_number);
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  close(ready[0]);
  close(ready[1]);
  return status;
}

/// As a call does that waits for a file system which never answers.
int wait_for_ever() {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  const observer::OutsideWait waiting;
  for (;;) pause();
}

TEST(Guard, HandsOnTheStatusOfTheCommand) {
  EXPECT_EQ(WEXITSTATUS(status_of([] { return 7; })), 7);
  EXPECT_EQ(WTERMSIG(status_of([] { return raise(SIGKILL); })), SIGKILL);
}

TEST(Guard, ACommandThatIsNotAnsweredEndsWithAStatus) {
  const timespec began = now();
  const int status = status_of(wait_for_ever);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 2);
  EXPECT_GT(seconds_between(began, now()), 4);
}

TEST(Guard, ASignalEndsACommandThatIsNotAnsweredSoon) {
  const timespec began = now();
  EXPECT_EQ(WTERMSIG(status_of(wait_for_ever, SIGTERM)), SIGTERM);
  EXPECT_LT(seconds_between(began, now()), 4) << "not only by the long wait";
}

TEST(Guard, ACommandThatWaitsForItsTimeIsLeftAlone) {
  EXPECT_EQ(WEXITSTATUS(status_of([] {
              sleep(6);  // longer than what is not answered may take
              return 3;
            })),
            3);
}

TEST(Guard, TheCommandTakesASignalItself) {
  sigset_t end, before;
  sigemptyset(&end);
  sigaddset(&end, SIGTERM);
  sigprocmask(SIG_BLOCK, &end, &before);
  const auto take_signal = [&] {
    int number = 0;
    return sigwait(&end, &number) == 0 ? 5 : 1;
  };
  EXPECT_EQ(WEXITSTATUS(status_of(take_signal, SIGTERM)), 5);
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
}  // namespace tarn::tool
