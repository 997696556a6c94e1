// What a program would notice of a thread that it did not start: descriptors held, limits used up, an end
// that does not come, system calls refused under its own filter.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "process/helper.h"
#include "process/sandbox.h"
#include "support/forked.h"

namespace tarn::test {
namespace {

// How long another process waits for the end of what is written to a pipe, after `close_all` has closed
// everything above 2.
void expect_end_of_file_at_once(const std::function<int()>& close_all) {
  in_child([&] {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    wake_helper();
    const pid_t reader = fork();
    if (reader == 0) {
      char byte;
      close(ends[1]);
      alarm(20);
      _exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
    }
    close(ends[0]);
    wake_helper();
    const long start = milliseconds_now();
    if (close_all() != 0) _exit(kSkipped);
    EXPECT_EQ(status_of(reader), 0);
    EXPECT_LT(milliseconds_now() - start, 1500);
  });
}

constexpr unsigned kUnshare = 2;  // CLOSE_RANGE_UNSHARE

TEST(Unnoticeable, APipeIsClosedByCloseRange) {
  expect_end_of_file_at_once([] { return close_range(3, ~0u, kUnshare); });
}
TEST(Unnoticeable, APipeIsClosedByTheSystemCallOfCloseRange) {
  expect_end_of_file_at_once([] { return static_cast<int>(syscall(SYS_close_range, 3u, ~0u, kUnshare)); });
}
TEST(Unnoticeable, APipeIsClosedAfterUnshareOfDescriptors) {
  expect_end_of_file_at_once([] { return unshare(CLONE_FILES) != 0 ? -1 : close_range(3, ~0u, 0); });
}

int threads_that_start(int most) {
  static pthread_mutex_t hold = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&hold);
  const auto wait = [](void*) -> void* {
    pthread_mutex_lock(&hold);
    pthread_mutex_unlock(&hold);
    return nullptr;
  };
  int started = 0;
  pthread_t thread;
  while (started < most && pthread_create(&thread, nullptr, wait, nullptr) == 0) ++started;
  return started;
}

// As root only: who has other processes has used an unknown part of the limit.
TEST(Unnoticeable, ALimitOfProcessesLeavesRoomForAsManyThreads) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  for (const rlim_t limit : {2, 3, 5}) {
    in_child([&] {
      const auto user = static_cast<uid_t>(200000000 + getpid());
      if (setgid(user) != 0 || setuid(user) != 0) _exit(kSkipped);
      const rlimit processes{limit, limit};
      ASSERT_EQ(setrlimit(RLIMIT_NPROC, &processes), 0);
      wake_helper();
      EXPECT_EQ(threads_that_start(8), static_cast<int>(limit) - 1);
      wake_helper();
    });
  }
}

constexpr int kOwnStatus = 7;

[[noreturn]] void end_thread_by_instruction() {
#if defined(__x86_64__)
  asm volatile("syscall" : : "a"(SYS_exit), "D"(kOwnStatus) : "rcx", "r11", "memory");
#else
  register long number asm("x8") = SYS_exit;
  register long status asm("x0") = kOwnStatus;
  asm volatile("svc 0" : : "r"(number), "r"(status) : "memory");
#endif
  __builtin_unreachable();
}

// The status of a child whose only thread leaves in that way, or -1 when it is still there after the time.
int status_when_main_leaves(long limit_ms, void (*leave)()) {
  const pid_t child = fork();
  if (child == 0) {
    wake_helper();
    leave();
  }
  int status = -1;
  if (comes_true([&] { return waitpid(child, &status, WNOHANG) == child; }, limit_ms)) return status;
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return -1;
}

TEST(Unnoticeable, AMainThreadThatLeavesByTheSystemCallEndsTheProcessWithItsStatus) {
  const int status = status_when_main_leaves(1000, [] { syscall(SYS_exit, kOwnStatus); });
  EXPECT_EQ(status, kOwnStatus << 8);
}

// The kernel takes the status of the thread that ends last.
TEST(Unnoticeable, AMainThreadThatLeavesByTheInstructionEndsTheProcess) {
  EXPECT_NE(status_when_main_leaves(2500, [] { end_thread_by_instruction(); }), -1);
}

// The answer to madvise, which a thread that gives memory back needs; all else is allowed.
void answer_madvise(unsigned answer, unsigned flags) {
  sock_filter instructions[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, answer),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{4, instructions};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter) != 0)
    _exit(kSkipped);
}

// Blocks that stay within a thread's cache and a few pages, so that no call of the system is needed for a
// free.
bool small_blocks_work() {
  for (std::size_t size = 16; size <= 16384; size *= 2) {
    void* const block = PoolUnderTest::allocate(size);
    if (block == nullptr) return false;
    memset(block, 1, size);
    PoolUnderTest::deallocate(block);
  }
  return true;
}

void expect_work_where_madvise_kills(unsigned flags) {
  in_child(
      [&] {
        const int tasks = open_tasks();
        free_more_than_may_stay();
        answer_madvise(SECCOMP_RET_KILL_THREAD, flags);
        // A helper that is there goes on to its next madvise, and dies of it under the filter.
        comes_true([&] { return task_count(tasks) == 1; }, 2000);
        EXPECT_TRUE(small_blocks_work());
        EXPECT_EQ(forked([] { return small_blocks_work() ? 0 : 1; }), 0);
        EXPECT_TRUE(small_blocks_work());
      },
      10);
}

TEST(Unnoticeable, AFilterThatKillsInMadviseLeavesNoLockHeld) { expect_work_where_madvise_kills(0); }
TEST(Unnoticeable, AFilterOfAllThreadsThatKillsInMadviseLeavesNoLockHeld) {
  expect_work_where_madvise_kills(SECCOMP_FILTER_FLAG_TSYNC);
}

TEST(Unnoticeable, ASandboxThatAllowsWhatLibcsMallocNeedsIsEnough) {
  in_child([] {
    free_more_than_may_stay();
    if (!allow_what_libc_needs()) _exit(kSkipped);
    for (int round = 0; round < 10; ++round) free_more_than_may_stay();
    EXPECT_TRUE(small_blocks_work());
  });
}

TEST(Unnoticeable, MemoryComesAndGoesWhereMadviseIsRefused) {
  in_child([] {
    const int tasks = open_tasks();
    wake_helper();
    answer_madvise(SECCOMP_RET_ERRNO | EPERM, SECCOMP_FILTER_FLAG_TSYNC);
    for (int round = 0; round < 10; ++round) wake_helper();
    EXPECT_EQ(task_count(tasks), 1);
    EXPECT_TRUE(small_blocks_work());
  });
}

}  // namespace
}  // namespace tarn::test
