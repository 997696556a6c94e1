#include "os/process/library_thread.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/process/process_status.h"
#include "support/forked.h"
#include "support/prelude.h"
#include "support/sanitizer.h"
#include "support/wait.h"

namespace tarn::internal::os {
namespace {

constinit std::atomic<bool> may_end{false}, takes_signals{true};

void look_and_wait() {
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  takes_signals = sigismember(&blocked, SIGTERM) == 0 || sigismember(&blocked, SIGPROF) == 0;
  while (!may_end) std::this_thread::yield();
}

int end_status_of_a_process_whose_main_thread_leaves() {
  return test::forked([] {
    // Two of the library's are no reason for each other to stay.
    start_thread([] {
      while (!is_last_thread()) std::this_thread::yield();
      for (;;) std::this_thread::yield();
    });
    start_thread([] {
      while (!is_last_thread()) std::this_thread::yield();
      _exit(0);
    });
    syscall(SYS_exit, 1);
    return 1;
  });
}

TEST(LibraryThread, SeesThatMainHasLeft) {
  if (test::kThreadSanitizer) GTEST_SKIP() << "a sanitizer has a thread of its own";
  EXPECT_EQ(end_status_of_a_process_whose_main_thread_leaves(), 0);
}

TEST(LibraryThread, TakesNoSignalAndEndsWithItsBody) {
  if (test::kThreadSanitizer) GTEST_SKIP() << "a sanitizer has a thread of its own";
  ASSERT_TRUE(start_thread(look_and_wait));
  EXPECT_FALSE(is_last_thread()) << "main is there";
  EXPECT_TRUE(test::comes_true([] { return !takes_signals; }));
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  EXPECT_EQ(sigismember(&blocked, SIGTERM), 0) << "the caller's mask is as it was";
  may_end = true;
  EXPECT_TRUE(test::comes_true([] { return thread_count() == 1; }));
}

}  // namespace
}  // namespace tarn::internal::os
