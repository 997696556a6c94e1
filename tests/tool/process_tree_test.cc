#include "system/processes/process_tree.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>

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

}  // namespace
}  // namespace tarn::tool
