// fork and its relatives in a process whose helper is at work: the process looks as if it had one thread, and
// a child, however it was made, gives memory back by itself.
#include "process/helper.h"
#include "support/forked.h"
#include "support/process_memory.h"
#include "support/sizes.h"

extern "C" pid_t _Fork();

namespace tarn::test {
namespace {

int threads_as_python_counts_them() {
  char text[1024];
  return read_small_file(AT_FDCWD, "/proc/self/stat", text, sizeof text) > 0 ? threads_in_stat(text) : -1;
}

TEST(ForkBesideTheHelper, ParentAndChildSeeOneThread) {
  in_child([] {
    for (int round = 0; round < 20; ++round) {
      wake_helper();
      const pid_t child = fork();
      const int threads = threads_as_python_counts_them();
      if (child == 0) _exit(threads == 1 ? 0 : 1);
      EXPECT_EQ(threads, 1) << "in the parent";
      EXPECT_EQ(status_of(child), 0) << "in the child";
    }
  });
}

TEST(ForkBesideTheHelper, TheParentsHelperComesAgain) {
  in_child([] {
    const int tasks = open_tasks();
    wake_helper();
    EXPECT_EQ(forked([] { return 0; }), 0);
    EXPECT_TRUE(helper_comes(tasks));
  });
}

pid_t raw_clone() { return static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)); }

struct Way {
  const char* name;
  pid_t (*make_child)();
};

void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

class ChildMadeBy : public testing::TestWithParam<Way> {};

// Takes 128 MiB, a quarter of which it uses, frees them and then only looks.
int become_small_while_idle() {
  const std::size_t before = resident_bytes();
  free_more_than_may_stay(kMiB / 4);
  return comes_true([&] { return resident_bytes() < before + 8 * kMiB; }, 10000) ? 0 : 1;
}

TEST_P(ChildMadeBy, GivesMemoryBackWhileItIdles) {
  in_child([] {
    wake_helper();
    EXPECT_EQ(forked(become_small_while_idle, GetParam().make_child), 0) << "still too large after 10 s";
  });
}

TEST_P(ChildMadeBy, HasAHelperOfItsOwn) {
  in_child([] {
    wake_helper();
    const auto work = [] {
      const int tasks = open_tasks();
      if (task_count(tasks) != 1) return 1;
      wake_helper();
      return task_count(tasks) == tasks_with_helper() ? 0 : 2;
    };
    EXPECT_EQ(forked(work, GetParam().make_child), 0)
        << "0x100: a second task at its start; 0x200: no helper after memory was freed";
  });
}

// No handler runs around a raw clone: a helper that is in the middle of something must not leave it half done
// in the child.
TEST_P(ChildMadeBy, WorksWhateverTheHelperDoesAtThatMoment) {
  in_child([] {
    for (int round = 0; round < 20; ++round) {
      free_more_than_may_stay(kMiB / 8);
      // Around 50 ms after, the helper sees that the excess lasts.
      for (const long end = milliseconds_now() + 44 + round / 2; milliseconds_now() < end;) continue;
      const auto work = [] {
        alarm(10);
        free_more_than_may_stay();
        return 0;
      };
      ASSERT_EQ(forked(work, GetParam().make_child), 0) << "round " << round;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(By, ChildMadeBy,
                         testing::Values(Way{"fork", &fork}, Way{"without_handlers", &_Fork},
                                         Way{"clone", &raw_clone}),
                         [](const auto& way) { return std::string(way.param.name); });

void* first_block = nullptr;

// Threads whose first call meets the fork; over the library alone it is the first call of the whole process.
int fork_among_first_calls(int delay) {
  std::atomic<bool> may_go{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      while (!may_go) continue;
      PoolUnderTest::deallocate(PoolUnderTest::allocate(100));
    });
  may_go = true;
  for (int i = 0; i < delay; ++i) asm volatile("");
  const int status = forked([] {
    alarm(5);
    first_block = PoolUnderTest::allocate(300);
    return first_block == nullptr ? 1 : 0;
  });
  for (std::thread& thread : threads) thread.join();
  return status;
}

TEST(ForkAmongFirstCalls, NeverHangsTheChild) {
  for (int round = 0; round < 300; ++round) {
    const int status = forked([&] { return fork_among_first_calls(round * 37 % 3000) == 0 ? 0 : 1; });
    ASSERT_EQ(status, 0) << "round " << round;
  }
}

}  // namespace
}  // namespace tarn::test
