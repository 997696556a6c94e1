#include "system/processes/process_tree.h"

#include <sys/wait.h>

#include <ctime>

#include "observer/files/outside_wait.h"
#include "support/prelude.h"
#include "system/figures/clock.h"
#include "system/processes/guard.h"

namespace tarn::tool {
namespace {

/// A process that has done something and waits until it is killed.
template <typename Work>
pid_t start(const Work& work) {
  int done[2];
  if (pipe(done) != 0) return -1;
  const pid_t pid = fork();
  if (pid == 0) {
    work();
    if (write(done[1], "", 1) != 1) _exit(1);
    for (;;) pause();
  }
  char word;
  close(done[1]);
  EXPECT_EQ(read(done[0], &word, 1), 1);
  close(done[0]);
  return pid;
}

void end(pid_t pid) {
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

bool is_among(pid_t pid, const std::vector<pid_t>& processes) {
  return std::find(processes.begin(), processes.end(), pid) != processes.end();
}

void burn(double seconds) {
  const std::clock_t begin = std::clock();
  while (static_cast<double>(std::clock() - begin) < seconds * CLOCKS_PER_SEC) {
  }
}

TEST(ProcessTree, HoldsChildrenAndTheirChildren) {
  pid_t* grandchild = static_cast<pid_t*>(
      mmap(nullptr, sizeof(pid_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const pid_t child = start([&] { *grandchild = start([] {}); });
  const std::vector<pid_t> tree = tree_of(child);
  EXPECT_EQ(tree, (std::vector<pid_t>{child, *grandchild}));
  EXPECT_TRUE(is_among(child, children_of(getpid())));
  kill(*grandchild, SIGKILL);
  end(child);
  munmap(grandchild, sizeof(pid_t));
}

TEST(ProcessTree, AProcessThatIsNotWaitedForIsAChildAndNotAlive) {
  const pid_t child = start([] {});
  EXPECT_TRUE(is_alive(child));
  kill(child, SIGKILL);
  siginfo_t info;
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_FALSE(is_alive(child));
  EXPECT_TRUE(is_among(child, children_of(getpid())));
  end(child);
  EXPECT_FALSE(is_alive(child));
  EXPECT_FALSE(is_among(child, children_of(getpid())));
}

TEST(ProcessTree, WhatAChildUsedCountsBeforeAndAfterItIsWaitedFor) {
  const std::vector<pid_t> self = {getpid()};
  const Measurement before = use_of(self);
  const pid_t child = start([] { burn(0.1); });
  EXPECT_NEAR(use_of({child}).cpu_seconds(), 0.1, 0.04);
  EXPECT_LT(use_between(before, use_of(self)).cpu_seconds(), 0.06);
  end(child);
  EXPECT_NEAR(use_between(before, use_of(self)).cpu_seconds(), 0.1, 0.06);
}

TEST(ProcessTree, APageThatProcessesShareCountsOnce) {
  constexpr std::size_t kShared = 64 << 20;
  void* memory = mmap(nullptr, kShared, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memset(memory, 1, kShared);
  const pid_t child = start([] {});
  const std::uint64_t alone = resident_bytes({getpid()}), together = resident_bytes({getpid(), child});
  EXPECT_GE(alone, kShared);
  EXPECT_GE(together, kShared);
  EXPECT_LT(together, alone + kShared / 2);
  end(child);
  munmap(memory, kShared);
}

TEST(ProcessTree, OfNoProcessIsEmptyOfEverything) {
  const pid_t child = start([] {});
  end(child);
  EXPECT_EQ(use_of({child}).page_faults(), 0u);
  EXPECT_EQ(resident_bytes({child}), 0u);
  EXPECT_EQ(name_of(child), "");
}

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
  EXPECT_GT(seconds_since(began), 4);
}

TEST(Guard, ASignalEndsACommandThatIsNotAnsweredSoon) {
  const timespec began = now();
  EXPECT_EQ(WTERMSIG(status_of(wait_for_ever, SIGTERM)), SIGTERM);
  EXPECT_LT(seconds_since(began), 4) << "not only by the long wait";
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
