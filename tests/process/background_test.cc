// The thread that gives memory back where the option asks for it; and that there is none where it does not.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>

#include "process/process_test.h"
#include "support/forked.h"
#include "support/process_memory.h"
#include "support/sizes.h"

namespace tarn::test {
namespace {

TEST(WithoutTheOption, AProcessThatFreesMuchHasOneThreadAndKeepsLittle) {
  in_child([] {
    const int tasks = open_tasks();
    const std::size_t before = resident_bytes();
    free_more_than_may_stay(kMiB / 4);
    EXPECT_EQ(task_count(tasks), 1);
    EXPECT_LT(resident_bytes(), before + 16 * kMiB);
  });
}

class TheThread : public testing::Test {
 protected:
  /// Calls `check` with the tasks of a child process and the id of the library's thread.
  static void with_thread(const std::function<void(int, int)>& check) {
    in_child([&] {
      if (!set_option("background", "on")) _exit(kSkipped);
      const int tasks = open_tasks();
      free_more_than_may_stay();
      const int thread = other_task(tasks);
      ASSERT_NE(thread, 0) << "no thread";
      check(tasks, thread);
    });
  }
};

TEST_F(TheThread, HasANameAndTakesNoSignal) {
  with_thread([](int tasks, int thread) {
    char text[kStatusBytes] = {};
    EXPECT_TRUE(comes_true([&] {
      read_task_file(tasks, thread, "comm", text, sizeof text);
      return std::string(text) == "tarn\n";
    }));
    ASSERT_GT(read_task_file(tasks, thread, "status", text, sizeof text), 0);
    EXPECT_EQ(status_number(text, "SigBlk", 16) & 0x3fff'ffff, 0x3fff'ffffu & ~(1u << 8 | 1u << 18))
        << "all but SIGKILL and SIGSTOP";
  });
}

TEST_F(TheThread, GivesMemoryBackWhileTheProgramIdles) {
  in_child([] {
    if (!set_option("background", "on")) _exit(kSkipped);
    const std::size_t before = resident_bytes();
    free_more_than_may_stay(kMiB / 4);
    EXPECT_TRUE(comes_true([&] { return resident_bytes() < before + 4 * kMiB; }));
  });
}

TEST_F(TheThread, EndsWhenItIsSwitchedOffAndComesAgain) {
  with_thread([](int tasks, int) {
    set_option("background", "off");
    EXPECT_TRUE(comes_true([&] { return task_count(tasks) == 1; }));
    set_option("background", "on");
    EXPECT_TRUE(comes_true([&] { return free_more_than_may_stay(), task_count(tasks) == 2; }));
  });
}

TEST_F(TheThread, LetsAProcessEndWhoseMainThreadHasLeft) {
  const pid_t child = fork();
  if (child == 0) {
    if (!set_option("background", "on")) _exit(0);
    free_more_than_may_stay();
    syscall(SYS_exit, 0);
  }
  int status = -1;
  EXPECT_TRUE(comes_true([&] { return waitpid(child, &status, WNOHANG) == child; }));
  EXPECT_EQ(status, 0);
  kill(child, SIGKILL);
}

TEST_F(TheThread, IsAnotherOneInTheChildOfAFork) {
  with_thread([](int, int) {
    const ChildResult result = run_in_child([] {
      const int tasks = open_tasks();
      if (task_count(tasks) != 1) return 1;
      const std::size_t before = resident_bytes();
      free_more_than_may_stay(kMiB / 4);
      if (task_count(tasks) != 2) return 2;
      return comes_true([&] { return resident_bytes() < before + 8 * kMiB; }) ? 0 : 3;
    });
    EXPECT_TRUE(result.is_success()) << result.describe();
  });
}

TEST_F(TheThread, MayBeAtWorkWhileTheProgramForks) {
  with_thread([](int, int) {
    for (int round = 0; round < 20; ++round) {
      free_more_than_may_stay(kMiB / 8);
      // Around 50 ms after, the thread sees that the excess lasts.
      for (const long end = milliseconds_now() + 44 + round / 2; milliseconds_now() < end;) continue;
      const ChildResult result = run_in_child([] { return free_more_than_may_stay(), 0; }, 10);
      ASSERT_TRUE(result.is_success()) << "round " << round << ": " << result.describe();
    }
  });
}

}  // namespace
}  // namespace tarn::test
