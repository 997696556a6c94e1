// The one holder of a process: whom it looks into, with which rights, and what is never written to.
#include "observer/process/attached_process.h"

#include <linux/capability.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include <filesystem>

#include "observer/companion.h"
#include "observer/files/kernel_text.h"
#include "observer/process/refusal.h"
#include "observer/who_may_look.h"
#include "support/prelude.h"

namespace tarn::observer {
namespace {

using test::become_nobody;
using test::Companion;
using test::contains;
using test::error_of;
using test::kNobody;
using test::seen_by;
using test::WhoMayLook;

constexpr std::uint64_t kBefore = 0x1111, kAfter = 0x2222;

/// Makes a word in its memory. \returns the address.
std::uint64_t make_word() {
  static volatile std::uint64_t word = kBefore;
  return reinterpret_cast<std::uintptr_t>(&word);
}

/// What a tool of root hears when it writes to the word; "": the word is what it wrote.
std::string write_to(
    const Companion& child, const std::function<void()>& meanwhile = [] {}) {
  const test::ChildResult result = test::run_in_child([&] {
    const std::string error = error_of([&] {
      const auto source = open_process_to_switch(child.pid());
      meanwhile();
      running_process(*source).write(child.answer(), &kAfter, sizeof kAfter);
      std::uint64_t word = 0;
      if (!source->read_all(child.answer(), &word, sizeof word) || word != kAfter) _exit(1);
    });
    std::printf("%s", error.c_str());
    std::fflush(stdout);
    return 0;
  });
  return result.is_success() ? result.output : result.describe();
}

TEST_F(WhoMayLook, AProcessOfOneUserIsWrittenToAlsoWhereItHasBegunAsRoot) {
  EXPECT_EQ(write_to(Companion(make_word)), "");
  const Companion daemon([] { return become_nobody(), make_word(); });
  EXPECT_EQ(write_to(daemon), "");
}

TEST_F(WhoMayLook, AProcessOfSeveralUsersIsReadAndNotWrittenTo) {
  const Companion mixed([] { return setresuid(kNobody, 0, 0) == 0 ? make_word() : 0; });
  EXPECT_TRUE(contains(write_to(mixed), "may have rights that its user has not")) << write_to(mixed);
  EXPECT_EQ(seen_by([] {}, mixed.pid()), "it can look");
}

TEST_F(WhoMayLook, NothingIsWrittenWhereTheUserOrTheProgramChangedMeanwhile) {
  Companion other(make_word);
  EXPECT_TRUE(contains(write_to(other, [&] { other.run("/bin/cat"); }), "changed its program or user"));
}

TEST_F(WhoMayLook, RootHasTheRightsOfTheProcesssUserFromThenOn) {
  const Companion child([] { return become_nobody(), std::uint64_t{0}; });
  const test::ChildResult result = test::run_in_child([&] {
    const auto source = open_process(child.pid());
    uid_t users[3];
    gid_t groups[3];
    if (getresuid(&users[0], &users[1], &users[2]) != 0 || getresgid(&groups[0], &groups[1], &groups[2]) != 0)
      return 1;
    for (const unsigned id : {users[0], users[1], users[2], groups[0], groups[1], groups[2]})
      if (id != kNobody) return 2;
    return has_capabilities() || setuid(0) == 0 || prctl(PR_GET_DUMPABLE) != 0 ? 3 : 0;
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
}

constexpr uid_t kSomebody = 4711;

std::uint64_t become_somebody() {
  if (setgid(kSomebody) != 0 || setuid(kSomebody) != 0) _exit(1);
  return make_word();
}

/// Where the kernel lets nobody have a namespace of users, the process is one of its user all the same.
TEST_F(WhoMayLook, AProcessInAUserNamespaceOfItsOwnIsOneOfItsUser) {
  const Companion child([] { return static_cast<void>(unshare(CLONE_NEWUSER)), make_word(); });
  EXPECT_EQ(write_to(child), "") << "root's";
  const Companion other([] {
    const std::uint64_t word = become_somebody();
    static_cast<void>(unshare(CLONE_NEWUSER));
    return word;
  });
  EXPECT_EQ(write_to(other,
                     [] {
                       if (geteuid() != kSomebody || has_capabilities()) _exit(2);
                     }),
            "");
}

TEST_F(WhoMayLook, ACapabilityInAUserNamespaceIsNoneOutside) {
  const Companion child(make_word);
  bool* const has_left = static_cast<bool*>(
      mmap(nullptr, sizeof(bool), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const std::string seen = seen_by([&] { *has_left = unshare(CLONE_NEWUSER) == 0; }, child.pid());
  if (*has_left)
    EXPECT_TRUE(contains(seen, "a user namespace, a container")) << seen;
  else
    EXPECT_EQ(seen, "it can look");
  munmap(has_left, sizeof(bool));
}

TEST_F(WhoMayLook, AProcessThatHidesItsMemoryIsReadWithTheRightsOfItsUser) {
  const Companion hidden([] {
    const std::uint64_t word = become_somebody();
    return prctl(PR_SET_DUMPABLE, 0), word;
  });
  const test::ChildResult result = test::run_in_child([&] {
    const auto source = open_process(hidden.pid());
    std::uint64_t word = 0;
    if (geteuid() != kSomebody || has_capabilities()) return 1;
    if (!source->read_all(hidden.answer(), &word, sizeof word) || word != kBefore) return 2;
    source->refresh();  // its mappings too
    return 0;
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
  EXPECT_EQ(write_to(hidden), "") << "its program gives no rights";
}

/// A copy of `cat` that gives whoever runs it a capability, where the file system has them.
class PrivilegedCopy {
 public:
  PrivilegedCopy() {
    std::filesystem::copy_file("/bin/cat", path_, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::permissions(path_, std::filesystem::perms(0755));
    vfs_cap_data rights{};
    rights.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE;
    rights.data[0].permitted = 1u << CAP_NET_RAW;
    setxattr(path_.c_str(), "security.capability", &rights, XATTR_CAPS_SZ_2, 0);
  }
  ~PrivilegedCopy() { std::filesystem::remove(path_); }
  PrivilegedCopy(const PrivilegedCopy&) = delete;
  PrivilegedCopy& operator=(const PrivilegedCopy&) = delete;

  const std::string& path() const { return path_; }

 private:
  const std::string path_ = testing::TempDir() + "privileged_copy_" + std::to_string(getpid());
};

bool has_rights(pid_t pid) { return number_in(field_of(process_text(pid, "status"), "CapPrm:"), 16) != 0; }

TEST_F(WhoMayLook, AProcessWithCapabilitiesOfItsFileIsReadAndNotWrittenTo) {
  const PrivilegedCopy program;
  Companion child(become_somebody);
  ASSERT_TRUE(child.run(program.path()));
  const std::string error = write_to(child);
  if (has_rights(child.pid()))
    EXPECT_TRUE(contains(error, "may have rights that its user has not")) << error;
  else
    EXPECT_TRUE(contains(error, "could not be switched")) << error;  // cat has not this word
  EXPECT_EQ(seen_by([] {}, child.pid()), "it can look");
}

TEST_F(WhoMayLook, NorWhereItHasGotThemMeanwhile) {
  const PrivilegedCopy program;
  Companion child(become_somebody);
  const std::string error = write_to(child, [&] { child.run(program.path()); });
  // The second: its user may not ask which program it runs, but what was opened is no longer its memory.
  EXPECT_TRUE(contains(error, "changed its program or user") || contains(error, "could not be switched"))
      << error;
}

/// A process of a number that is free; without the right to choose, of another one.
class ProcessOfNumber {
 public:
  explicit ProcessOfNumber(pid_t number) {
    clone_args wanted{};
    wanted.exit_signal = SIGCHLD;
    wanted.set_tid = reinterpret_cast<std::uintptr_t>(&number);
    wanted.set_tid_size = 1;
    pid_ = static_cast<pid_t>(syscall(SYS_clone3, &wanted, sizeof wanted));
    if (pid_ < 0) pid_ = fork();
    while (pid_ == 0) pause();
  }
  ~ProcessOfNumber() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  ProcessOfNumber(const ProcessOfNumber&) = delete;
  ProcessOfNumber& operator=(const ProcessOfNumber&) = delete;

  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST(AttachedProcess, AnotherProcessOfTheSameNumberIsNotTakenForIt) {
  Companion child(make_word);
  const pid_t number = child.pid();
  const auto source = open_process_to_switch(number);
  AttachedProcess& process = running_process(*source);
  child.end();
  child.reap();
  const ProcessOfNumber next(number);
  std::uint64_t word = 0;
  ASSERT_TRUE(open_process(next.pid())->read_all(child.answer(), &word, sizeof word));
  EXPECT_EQ(word, kBefore) << "it has the same word at the same address";
  EXPECT_EQ(source->read(child.answer(), &word, sizeof word), 0u);
  for (const char* const name : {"status", "exe", "cmdline"})
    EXPECT_FALSE(process.open(name).is_open()) << name;
  EXPECT_TRUE(contains(error_of([&] { source->refresh(); }), "has ended"));
  EXPECT_TRUE(
      contains(error_of([&] { process.write(child.answer(), &kAfter, sizeof kAfter); }), "has ended"));
  ASSERT_TRUE(open_process(next.pid())->read_all(child.answer(), &word, sizeof word));
  EXPECT_EQ(word, kBefore);
}

TEST(AttachedProcess, OpensRegularFilesOfTheProcessAndNothingElse) {
  const AttachedProcess own(getpid(), Access::kRead);
  const std::string file = testing::TempDir() + "regular", link = testing::TempDir() + "link",
                    pipe = testing::TempDir() + "pipe";
  std::ofstream(file) << "x";
  std::filesystem::create_symlink("/proc/self/exe", link);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(own.open_file_of(file).is_open());
  for (const std::string& other : {pipe, link, std::string("/dev/null"), testing::TempDir()})
    EXPECT_FALSE(own.open_file_of(other).is_open()) << other;
  for (const std::string& made : {file, link, pipe}) std::filesystem::remove(made);
}

}  // namespace
}  // namespace tarn::observer
