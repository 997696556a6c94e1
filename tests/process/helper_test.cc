// What the helper thread is: when it comes, what it is called, how it is scheduled, what it may do, where its
// stack lies.
#include "process/helper.h"

#include <dlfcn.h>
#include <sys/resource.h>

#include "support/sizes.h"

namespace tarn::test {
namespace {

cpu_set_t cpus_of(int task) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  sched_getaffinity(task, sizeof cpus, &cpus);
  return cpus;
}

const cpu_set_t cpus_at_start = cpus_of(0);

class Helper : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_helper()) GTEST_SKIP() << "the system's malloc has none";
  }
};

// What the helper does first of all, on its own thread.
template <typename Condition>
bool comes_soon(const Condition& condition) {
  return comes_true(condition, 2000);
}

std::string file_of(int tasks, int task, const char* name) {
  char text[kStatusBytes] = {};
  read_task_file(tasks, task, name, text, sizeof text);
  return text;
}

/// Calls `check` with the tasks of a child process and its helper's id.
void with_helper(const std::function<void(int, int)>& check) {
  in_child([&] {
    const int tasks = open_tasks();
    wake_helper();
    const int helper = other_task(tasks);
    ASSERT_NE(helper, 0) << "no helper";
    check(tasks, helper);
  });
}

TEST_F(Helper, IsNotStartedForLittleMemory) {
  in_child([] {
    const int tasks = open_tasks();
    for (int round = 0; round < 20; ++round) {
      void* blocks[20];
      for (void*& block : blocks) memset(block = PoolUnderTest::allocate(8 * kKiB), 1, 8 * kKiB);
      for (void* block : blocks) PoolUnderTest::deallocate(block);
      EXPECT_EQ(task_count(tasks), 1);
    }
  });
}

TEST_F(Helper, HasAName) {
  with_helper([](int tasks, int helper) {
    EXPECT_TRUE(comes_soon([&] { return file_of(tasks, helper, "comm") == "tarn-helper\n"; }))
        << file_of(tasks, helper, "comm");
  });
}

TEST_F(Helper, TakesNoSignal) {
  with_helper([](int tasks, int helper) {
    const std::uint64_t unblocked = ~status_number(file_of(tasks, helper, "status").c_str(), "SigBlk", 16);
    EXPECT_EQ(unblocked, std::uint64_t{1} << (SIGKILL - 1) | std::uint64_t{1} << (SIGSTOP - 1));
  });
}

TEST_F(Helper, MayDoLessThanAnyProgram) {
  with_helper([](int tasks, int helper) {
    const auto has_nothing = [&] {
      const std::string text = file_of(tasks, helper, "status");
      const auto is = [&](const char* name, std::uint64_t value) {
        return status_number(text.c_str(), name, 16) == value;
      };
      return is("CapPrm", 0) && is("CapEff", 0) && is("CapInh", 0) && is("CapAmb", 0) &&
             is("NoNewPrivs", 1) && is("Seccomp", 2);
    };
    EXPECT_TRUE(comes_soon(has_nothing)) << file_of(tasks, helper, "status");
  });
}

// The files that a task has open, as links: "pipe:[4711]".
std::set<std::string> open_files(int tasks, int task) {
  int numbers[64];
  std::set<std::string> files;
  const std::string directory = std::to_string(task) + "/fd";
  const int descriptors = openat(tasks, directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int count = list_numbers(descriptors, numbers, 64);
  for (int i = 0; i < count; ++i) {
    char target[256] = {};
    if (readlinkat(descriptors, std::to_string(numbers[i]).c_str(), target, sizeof target - 1) > 0)
      files.insert(target);
  }
  close(descriptors);
  return files;
}

TEST_F(Helper, HoldsNoFileThatTheProcessHasClosed) {
  in_child([] {
    int ends[2];
    char name[64] = {};
    const int tasks = open_tasks();
    ASSERT_EQ(pipe(ends), 0);
    ASSERT_GT(readlink(("/proc/self/fd/" + std::to_string(ends[0])).c_str(), name, sizeof name - 1), 0);
    wake_helper();
    const int helper = other_task(tasks);
    ASSERT_NE(helper, 0);
    close(ends[0]), close(ends[1]);
    EXPECT_TRUE(comes_soon([&] { return !open_files(tasks, helper).contains(name); }));
  });
}

// A thread of the program that must run at once, at that moment, may be the one that starts the helper.
TEST_F(Helper, IsScheduledAsTheProcessIsAndNotAsTheThreadThatFrees) {
  in_child([] {
    const int tasks = open_tasks();
    const sched_param urgent{10};
    if (setpriority(PRIO_PROCESS, 0, 5) != 0 || sched_setscheduler(0, SCHED_FIFO, &urgent) != 0)
      _exit(kSkipped);
    wake_helper();
    const int helper = other_task(tasks);
    ASSERT_NE(helper, 0);
    EXPECT_TRUE(comes_soon([&] { return sched_getscheduler(helper) == SCHED_OTHER; }));
    EXPECT_EQ(getpriority(PRIO_PROCESS, static_cast<id_t>(helper)), 5);
  });
}

cpu_set_t first_cpu_of(const cpu_set_t& cpus) {
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &cpus)) CPU_SET(cpu, &one);
  return one;
}

TEST_F(Helper, RunsOnTheProcessorsThatTheProcessStartedWith) {
  in_child([] {
    const int tasks = open_tasks();
    std::thread([&] {
      const cpu_set_t one = first_cpu_of(cpus_at_start);
      EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
      wake_helper();
      int ids[kMostTasks];
      int helper = 0;
      const int count = list_numbers(tasks, ids, kMostTasks);
      for (int i = 0; i < count; ++i)
        if (ids[i] != getpid() && ids[i] != gettid()) helper = ids[i];
      ASSERT_NE(helper, 0);
      EXPECT_TRUE(comes_soon([&] {
        const cpu_set_t cpus = cpus_of(helper);
        return CPU_EQUAL(&cpus, &cpus_at_start);
      })) << "not on all "
          << CPU_COUNT(&cpus_at_start);
    }).join();
  });
}

struct Mapping {
  std::uintptr_t begin = 0, end = 0;
  std::string access, name;
};

bool is_anonymous(const Mapping& mapping) {
  return mapping.name.empty() || mapping.name.starts_with("[anon");
}

std::vector<Mapping> mappings() {
  std::vector<Mapping> all;
  std::ifstream file("/proc/self/maps");
  for (std::string line; std::getline(file, line);) {
    Mapping mapping;
    std::istringstream words(line);
    std::string offset, device, inode;
    char dash = 0;
    words >> std::hex >> mapping.begin >> dash >> mapping.end >> mapping.access >> offset >> device >>
        inode >> mapping.name;
    all.push_back(mapping);
  }
  return all;
}

// While a task waits in the kernel, the last but one number of its file `syscall` is its stack pointer.
std::uintptr_t stack_pointer(int tasks, int task) {
  std::uintptr_t pointer = 0;
  comes_true([&] {
    std::istringstream words(file_of(tasks, task, "syscall"));
    std::vector<std::string> all;
    for (std::string word; words >> word;) all.push_back(word);
    if (all.size() == 9) pointer = std::strtoull(all[7].c_str(), nullptr, 16);
    return pointer != 0;
  });
  return pointer;
}

TEST_F(Helper, HasAStackOfItsOwnAboveAGuard) {
  with_helper([](int tasks, int helper) {
    const std::uintptr_t pointer = stack_pointer(tasks, helper);
    ASSERT_NE(pointer, 0u) << "its stack pointer cannot be read";
    const std::vector<Mapping> all = mappings();
    const auto stack = std::find_if(all.begin(), all.end(), [&](const Mapping& mapping) {
      return mapping.begin <= pointer && pointer < mapping.end;
    });
    ASSERT_TRUE(stack != all.end() && stack != all.begin());
    EXPECT_TRUE(is_anonymous(*stack)) << "in " << stack->name;
    EXPECT_LE(stack->end - stack->begin, kMiB) << "it is part of something larger";
    EXPECT_EQ(stack->access, "rw-p");
    EXPECT_EQ((stack - 1)->end, stack->begin) << "nothing below";
    EXPECT_EQ((stack - 1)->access, "---p");
    EXPECT_TRUE(is_anonymous(*(stack - 1))) << "below is " << (stack - 1)->name;
  });
}

// Who has read one address, of the library, of the program or of a block, does not know where the stack is.
TEST_F(Helper, HasAStackThatAnotherAddressDoesNotGiveAway) {
  std::set<std::string> distances[3];
  for (int run = 0; run < 4; ++run) {
    const ChildResult result =
        run_program({"/proc/self/exe", "--gtest_also_run_disabled_tests", "--gtest_brief=1",
                     "--gtest_filter=Helper.DISABLED_PrintsWhereItsStackLies"});
    ASSERT_TRUE(result.is_success()) << result.describe();
    std::istringstream words(result.output.substr(result.output.find("stack at ") + 9));
    for (std::set<std::string>& seen : distances) {
      std::string distance;
      ASSERT_TRUE(words >> distance) << result.describe();
      seen.insert(distance);
    }
  }
  for (const std::set<std::string>& seen : distances) EXPECT_GT(seen.size(), 1u);
}

std::uintptr_t address_in_library() {
  void* const function = dlsym(RTLD_DEFAULT, "tarn_allocate");
  return reinterpret_cast<std::uintptr_t>(function != nullptr ? function : dlsym(RTLD_DEFAULT, "malloc"));
}

TEST_F(Helper, DISABLED_PrintsWhereItsStackLies) {
  const int tasks = open_tasks();
  wake_helper();
  const std::uintptr_t stack = stack_pointer(tasks, other_task(tasks));
  ASSERT_NE(stack, 0u);
  const auto pages_above = [stack](std::uintptr_t address) {
    return static_cast<std::ptrdiff_t>(stack / 4096 - address / 4096);
  };
  std::printf("stack at %td %td %td\n", pages_above(address_in_library()),
              pages_above(reinterpret_cast<std::uintptr_t>(&cpus_at_start)),
              pages_above(reinterpret_cast<std::uintptr_t>(PoolUnderTest::allocate(100))));
}

TEST_F(Helper, EndsWhenThereIsNothingLeftToGiveBack) {
  in_child([] {
    const int tasks = open_tasks();
    wake_helper();
    EXPECT_EQ(task_count(tasks), 2);
    EXPECT_TRUE(comes_true([&] { return task_count(tasks) == 1; }, 20000));
  });
}

}  // namespace
}  // namespace tarn::test
