// A program that gives privileges up, or goes elsewhere, leaves no thread of the library behind that has more
// than the caller: neither at once nor when memory is freed later. Needs root; each change is made in a
// process of its own.
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "process/helper.h"
#include "support/forked.h"
#include "support/threads.h"

extern "C" int capset(void* header, const void* data);

namespace tarn::test {
namespace {

constexpr unsigned kNobody = 65534;

// The whole filter says: allowed.
long set_filter(long (*set)(sock_fprog*)) {
  sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  sock_fprog program{1, allow};
  return set(&program);
}

long lose_all_capabilities(long (*set)(void*, const void*)) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2] = {};
  return set(&header, none);
}

long enter_own_namespace(const char* kind, long (*enter)(int, int)) {
  const int space = open((std::string("/proc/self/ns/") + kind).c_str(), O_RDONLY | O_CLOEXEC);
  const long result = enter(space, 0);
  const int error = errno;
  close(space);
  errno = error;
  return result;
}

enum class HelperAfter { kComes, kNeverComes, kMayCome };

struct Change {
  const char* name;
  long (*make)();
  HelperAfter after = HelperAfter::kComes;
};

const Change kChanges[] = {
    {"setuid", [] { return long{setuid(kNobody)}; }},
    {"seteuid", [] { return long{seteuid(kNobody)}; }},
    {"setreuid", [] { return long{setreuid(kNobody, kNobody)}; }},
    {"setresuid", [] { return long{setresuid(kNobody, kNobody, kNobody)}; }},
    {"setgid", [] { return long{setgid(kNobody)}; }},
    {"setegid", [] { return long{setegid(kNobody)}; }},
    {"setregid", [] { return long{setregid(kNobody, kNobody)}; }},
    {"setresgid", [] { return long{setresgid(kNobody, kNobody, kNobody)}; }},
    {"setgroups", [] { return long{setgroups(1, &kNobody)}; }},
    {"initgroups", [] { return long{initgroups("nobody", kNobody)}; }},
    {"capset",
     [] { return lose_all_capabilities([](void* h, const void* d) { return long{capset(h, d)}; }); }},
    {"chroot", [] { return long{chroot("/proc")}; }},

    {"prctl_no_new_privs", [] { return long{prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)}; }},
    {"prctl_capbset_drop", [] { return long{prctl(PR_CAPBSET_DROP, CAP_CHOWN, 0, 0, 0)}; }},
    {"prctl_cap_ambient", [] { return long{prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)}; }},
    {"prctl_securebits", [] { return long{prctl(PR_SET_SECUREBITS, SECBIT_NOROOT, 0, 0, 0)}; }},
    {"prctl_seccomp",
     [] {
       return set_filter(
           [](sock_fprog* filter) { return long{prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter, 0, 0)}; });
     },
     HelperAfter::kNeverComes},

    {"unshare_mount", [] { return long{unshare(CLONE_NEWNS)}; }},
    {"unshare_user", [] { return long{unshare(CLONE_NEWUSER)}; }},
    // The kernel makes no thread in a process whose children are to have another PID namespace.
    {"unshare_pid", [] { return long{unshare(CLONE_NEWPID)}; }, HelperAfter::kMayCome},
    {"unshare_all", [] { return long{unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET)}; },
     HelperAfter::kMayCome},
    {"unshare_files", [] { return long{unshare(CLONE_FILES | CLONE_FS)}; }},
    {"setns_mount",
     [] { return enter_own_namespace("mnt", [](int space, int kind) { return long{setns(space, kind)}; }); }},
    {"setns_net",
     [] { return enter_own_namespace("net", [](int space, int kind) { return long{setns(space, kind)}; }); }},

    {"syscall_setuid", [] { return syscall(SYS_setuid, kNobody); }},
    {"syscall_setreuid", [] { return syscall(SYS_setreuid, kNobody, kNobody); }},
    {"syscall_setresuid", [] { return syscall(SYS_setresuid, kNobody, kNobody, kNobody); }},
    {"syscall_setgid", [] { return syscall(SYS_setgid, kNobody); }},
    {"syscall_setregid", [] { return syscall(SYS_setregid, kNobody, kNobody); }},
    {"syscall_setresgid", [] { return syscall(SYS_setresgid, kNobody, kNobody, kNobody); }},
    {"syscall_setgroups", [] { return syscall(SYS_setgroups, 1, &kNobody); }},
    {"syscall_capset",
     [] { return lose_all_capabilities([](void* h, const void* d) { return syscall(SYS_capset, h, d); }); }},
    {"syscall_chroot", [] { return syscall(SYS_chroot, "/proc"); }},
    {"syscall_prctl_no_new_privs", [] { return syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }},
    {"syscall_prctl_capbset_drop", [] { return syscall(SYS_prctl, PR_CAPBSET_DROP, CAP_CHOWN, 0, 0, 0); }},
    {"syscall_seccomp",
     [] {
       return set_filter(
           [](sock_fprog* filter) { return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, filter); });
     },
     HelperAfter::kNeverComes},
    {"syscall_seccomp_all_threads",
     [] {
       return set_filter([](sock_fprog* filter) {
         return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, filter);
       });
     },
     HelperAfter::kNeverComes},
    {"syscall_unshare_user", [] { return syscall(SYS_unshare, CLONE_NEWUSER); }},
    {"syscall_unshare_mount", [] { return syscall(SYS_unshare, CLONE_NEWNS); }},
    {"syscall_setns_mount",
     [] {
       return enter_own_namespace("mnt", [](int space, int kind) { return syscall(SYS_setns, space, kind); });
     }},
};

void PrintTo(const Change& change, std::ostream* out) { *out << change.name; }

std::string link_of(int tasks, int task, const char* file) {
  char target[256] = {};
  const std::string path = std::to_string(task) + "/" + file;
  return readlinkat(tasks, path.c_str(), target, sizeof target - 1) > 0 ? target : "";
}

// A helper is where its caller is. What cannot be read, for want of privileges, is not compared.
bool is_where_the_caller_is(int tasks, int task) {
  for (const char* file : {"ns/user", "ns/mnt", "ns/net", "ns/pid", "root"}) {
    const std::string own = link_of(tasks, getpid(), file), other = link_of(tasks, task, file);
    if (own.empty() || other.empty() || own == other) continue;
    ADD_FAILURE() << file << " of task " << task << " is " << other << ", the caller's " << own;
    return false;
  }
  return true;
}

bool no_task_has_more(int tasks) {
  const int helper = other_task(tasks);
  return some_task_has_more(tasks) == 0 && (helper == 0 || is_where_the_caller_is(tasks, helper));
}

class PrivilegeChange : public testing::TestWithParam<Change> {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
    const ChildResult result = run_in_child([] { return GetParam().make() < 0 ? errno : 0; });
    // What a process without a helper may not do is not allowed here, in a container for one.
    if (result.exit_status != 0) GTEST_SKIP() << "not allowed here: " << strerror(result.exit_status);
  }
};

void expect_no_more_when_memory_is_freed(HelperAfter after, int tasks) {
  EXPECT_TRUE(after != HelperAfter::kComes || helper_comes(tasks)) << "no helper any more";
  for (int i = 0; i < 5; ++i) {
    wake_helper();
    EXPECT_TRUE(no_task_has_more(tasks)) << "after memory was freed";
    EXPECT_TRUE(after != HelperAfter::kNeverComes || task_count(tasks) == 1) << "a helper under a filter";
  }
}

TEST_P(PrivilegeChange, LeavesNoThreadThatHasMore) {
  in_child([] {
    const int tasks = open_tasks();
    wake_helper();
    const int helper = other_task(tasks);
    EXPECT_EQ(helper != 0, has_helper());
    const long result = GetParam().make();
    const int error = errno;
    EXPECT_TRUE(helper == 0 || other_task(tasks) != helper) << "a helper from before";
    EXPECT_EQ(result, 0) << strerror(error);
    EXPECT_TRUE(no_task_has_more(tasks)) << "at once";
    expect_no_more_when_memory_is_freed(GetParam().after, tasks);
  });
}

INSTANTIATE_TEST_SUITE_P(Call, PrivilegeChange, testing::ValuesIn(kChanges),
                         [](const auto& change) { return std::string(change.param.name); });

class Privileges : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
  }
};

TEST_F(Privileges, GivenUpOneAfterTheOtherAsADaemonDoesAreGone) {
  in_child([] {
    const int tasks = open_tasks();
    for (int round = 0; round < 2; ++round) wake_helper();
    EXPECT_EQ(setgroups(0, nullptr), 0);
    wake_helper();
    EXPECT_EQ(setresgid(kNobody, kNobody, kNobody), 0);
    wake_helper();
    EXPECT_EQ(setresuid(kNobody, kNobody, kNobody), 0);
    EXPECT_TRUE(no_task_has_more(tasks));
    wake_helper();
    EXPECT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    EXPECT_TRUE(no_task_has_more(tasks));
    expect_no_more_when_memory_is_freed(HelperAfter::kComes, tasks);
  });
}

// Nothing but read, write and the end of a thread is allowed then: a helper that worked on would end the
// process.
TEST_F(Privileges, StrictSeccompFindsNoThread) {
  const ChildResult result = run_in_child([] {
    static char text[1024];
    const int tasks = open_tasks();
    wake_helper();
    if (task_count(tasks) != tasks_with_helper()) return 1;
    const int stat = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) return +kSkipped;
    const ssize_t length = read(stat, text, sizeof text);
    // The exit of one thread is allowed, that of a process is not.
    syscall(SYS_exit,
            write(STDOUT_FILENO, text, length < 0 ? 0 : static_cast<std::size_t>(length)) > 0 ? 0 : 2);
    return 3;
  });
  if (result.exit_status == kSkipped) GTEST_SKIP() << "no strict seccomp here";
  ASSERT_TRUE(result.is_success()) << result.describe();
  EXPECT_EQ(threads_in_stat(result.output.c_str()), 1);
}

/// Threads that free memory, so that each of them may start a helper at any time.
class FreeingThreads {
 public:
  explicit FreeingThreads(int count) : threads_(count, [this] { work(); }) {}
  ~FreeingThreads() {
    must_stop_ = true;
    threads_.join();
  }

 private:
  void work() {
    while (!must_stop_) {
      void* blocks[8];
      for (void*& block : blocks) memset(block = PoolUnderTest::allocate(128 * 1024), 1, 4096);
      for (void* block : blocks) PoolUnderTest::deallocate(block);
    }
  }

  std::atomic<bool> must_stop_{false};
  Threads threads_;
};

TEST_F(Privileges, NoThreadOfAProgramThatFreesInThreadsKeepsThem) {
  in_child([] {
    const int tasks = open_tasks();
    wake_helper();
    const FreeingThreads threads(2);
    EXPECT_EQ(setresgid(kNobody, kNobody, kNobody), 0);
    EXPECT_TRUE(no_task_has_more(tasks));
    EXPECT_EQ(setresuid(kNobody, kNobody, kNobody), 0);
    EXPECT_TRUE(no_task_has_more(tasks));
    EXPECT_TRUE(helper_comes(tasks));
    EXPECT_TRUE(no_task_has_more(tasks));
  });
}

// A helper that another thread starts while the identity changes would keep the old one.
TEST_F(Privileges, ChangedToAndFroWhileOtherThreadsFreeAreThoseOfTheCaller) {
  in_child([] {
    const int tasks = open_tasks();
    const FreeingThreads threads(2);
    for (int round = 0; round < 100 && !testing::Test::HasFailure(); ++round) {
      EXPECT_EQ(seteuid(kNobody), 0);
      EXPECT_TRUE(no_task_has_more(tasks)) << "round " << round;
      EXPECT_EQ(seteuid(0), 0);
      EXPECT_TRUE(no_task_has_more(tasks)) << "round " << round;
    }
  });
}

TEST_F(Privileges, AVforkChildGivesThemUpAndRunsAProgram) {
  in_child([] {
    const int tasks = open_tasks();
    for (int round = 0; round < 20; ++round) {
      wake_helper();
      const pid_t child = vfork();
      if (child == 0) {
        if (setgid(kNobody) != 0 || setuid(kNobody) != 0) _exit(1);
        execl("/bin/true", "true", nullptr);
        _exit(2);
      }
      EXPECT_EQ(status_of(child), 0);
      EXPECT_EQ(geteuid(), 0u);
    }
    EXPECT_TRUE(helper_comes(tasks)) << "the parent's memory is given back as before";
    EXPECT_TRUE(no_task_has_more(tasks));
  });
}

// The child says when its namespace is there, and stays until it is killed.
pid_t child_in_user_namespace(int* space) {
  int ready[2];
  char byte = 0;
  if (pipe(ready) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    byte = unshare(CLONE_NEWUSER) == 0 ? 'y' : 'n';
    write(ready[1], &byte, 1);
    for (;;) pause();
  }
  read(ready[0], &byte, 1);
  const std::string path = "/proc/" + std::to_string(child) + "/ns/user";
  *space = byte == 'y' ? open(path.c_str(), O_RDONLY | O_CLOEXEC) : -1;
  return child;
}

TEST_F(Privileges, AChildsUserNamespaceCanBeEntered) {
  in_child([] {
    int space = -1;
    const pid_t child = child_in_user_namespace(&space);
    const int tasks = open_tasks();
    wake_helper();
    const int result = space < 0 ? 0 : setns(space, CLONE_NEWUSER), error = errno;
    EXPECT_EQ(result, 0) << strerror(error);
    expect_no_more_when_memory_is_freed(HelperAfter::kComes, tasks);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    if (space >= 0) return;
    puts("no user namespaces here");
    fflush(stdout);
    _exit(kSkipped);
  });
}

}  // namespace
}  // namespace tarn::test
