// Calls that change a thread's rights, its namespaces or its descriptors. libc and the kernel make them for
// the threads that libc knows, and some refuse a process with a second thread. So the helper steps aside
// before each and comes back after it (page/give_back/helper.h). Each call does the same as libc's and
// gives the same answers.
//
// Where libc acts on all of its threads at once, libc's own function is called: the next definition in symbol
// order. A single system call is made here. Not in static programs: their libc has no next definition.
#include <dlfcn.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>

#include "os/locks/owner_lock.h"
#include "os/syscall.h"
#include "page/give_back/helper.h"
#include "tarn/detail/c_api.h"

namespace {

using tarn::internal::helper;
using tarn::internal::HelperPause;
using tarn::internal::os::syscall6;
using tarn::internal::os::to_long;

/// The next definition of a function in symbol order, after this library's.
template <typename Function>
class Next {
 public:
  constexpr explicit Next(const char* name) : name_(name) {}

  /// \returns nullptr where there is none. The first call takes the loader's lock.
  Function* find() {
    Function* function = function_.load(std::memory_order_relaxed);
    if (function != nullptr) return function;
    function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name_));
    function_.store(function, std::memory_order_relaxed);
    return function;
  }

  template <typename... Arguments>
  int operator()(Arguments... arguments) {
    Function* const function = find();
    if (function == nullptr) return errno = ENOSYS, -1;
    const HelperPause pause;
    return function(arguments...);
  }

 private:
  const char* const name_;
  std::atomic<Function*> function_{nullptr};
};

constinit Next<int(uid_t)> next_setuid("setuid"), next_seteuid("seteuid");
constinit Next<int(uid_t, uid_t)> next_setreuid("setreuid");
constinit Next<int(uid_t, uid_t, uid_t)> next_setresuid("setresuid");
constinit Next<int(gid_t)> next_setgid("setgid"), next_setegid("setegid");
constinit Next<int(gid_t, gid_t)> next_setregid("setregid");
constinit Next<int(gid_t, gid_t, gid_t)> next_setresgid("setresgid");
constinit Next<pid_t()> next_fork("_Fork");
constinit Next<int(int (*)(void*), void*, int, void*, ...)> next_clone("clone");
constinit Next<int(std::size_t, const gid_t*)> next_setgroups("setgroups");
constinit Next<int(const char*, gid_t)> next_initgroups("initgroups");

long as_libc(long answer) {
  if (answer >= 0 || answer < -4095) return answer;
  errno = static_cast<int>(-answer);
  return -1;
}

bool changes_privileges(int option) {
  switch (option) {
    case PR_SET_NO_NEW_PRIVS:
    case PR_SET_SECCOMP:
    case PR_CAPBSET_DROP:
    case PR_CAP_AMBIENT:
    case PR_SET_SECUREBITS:
    case PR_SET_KEEPCAPS:
      return true;
    default:
      return false;
  }
}

/// The precautions that a call needs.
enum class Care : unsigned char { kNone, kAlone, kSetsFilter, kEndsThread };

Care care_for(long number, long first, long third) {
  switch (number) {
    case SYS_setuid:
    case SYS_setreuid:
    case SYS_setresuid:
    case SYS_setgid:
    case SYS_setregid:
    case SYS_setresgid:
    case SYS_setgroups:
    case SYS_capset:
    case SYS_unshare:
    case SYS_setns:
    case SYS_chroot:
    case SYS_pivot_root:
      return Care::kAlone;
    case SYS_close_range:
      return (third & CLOSE_RANGE_UNSHARE) != 0 ? Care::kAlone : Care::kNone;
    case SYS_prctl:
      if (static_cast<int>(first) == PR_SET_SECCOMP) return Care::kSetsFilter;
      return changes_privileges(static_cast<int>(first)) ? Care::kAlone : Care::kNone;
    case SYS_seccomp:
      return first == SECCOMP_SET_MODE_FILTER || first == SECCOMP_SET_MODE_STRICT ? Care::kSetsFilter
                                                                                  : Care::kNone;
    case SYS_exit:
      return Care::kEndsThread;
    default:
      return Care::kNone;
  }
}

/// After the program sets its own filter, no helper starts again, and nobody fences all threads by a call.
/// \returns as libc does.
long set_filter(long number, long a, long b, long c, long d, long e) {
  helper.step_aside();
  tarn::internal::os::OwnerLock::forbid_calls();
  const long answer = syscall6(number, a, b, c, d, e);
  if (answer >= 0) {
    helper.forbid();
    helper.return_later();
  } else {
    helper.return_now();
  }
  return as_libc(answer);
}

long call_alone(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0) {
  const HelperPause pause;
  return as_libc(syscall6(number, a, b, c, d, e));
}

extern "C" [[gnu::visibility("hidden"), gnu::alias("setuid")]] int tarn_own_setuid(uid_t user) noexcept;

// Where another definition comes first, for example libc's before a library loaded at run time, no call comes
// here.
[[gnu::constructor]] void find_out_who_is_called() {
  // One address is from the symbol table. Volatile, since the compiler takes both for the same function.
  int (*volatile const called)(uid_t) = &setuid;
  if (called == &tarn_own_setuid) helper.note_that_it_can_step_aside();
}

/// Whether a system call forks: makes a child with its own memory.
bool is_fork(long number, long first, long second) {
  constexpr unsigned long kSharesMemory = CLONE_VM;
  if (number == SYS_clone) return (static_cast<unsigned long>(first) & kSharesMemory) == 0;
  if (number == SYS_clone3)  // its argument's first member is the flags
    return first != 0 && second >= static_cast<long>(sizeof(std::uint64_t)) &&
           (*reinterpret_cast<const std::uint64_t*>(first) & kSharesMemory) == 0;
#if defined(SYS_fork)
  return number == SYS_fork;
#else
  return false;
#endif
}

void end_fork(long child) {
  if (child == 0) {
    tarn::internal::os::OwnerLock::forget_other_threads();
    helper.forget_after_fork(tarn::internal::Helper::OtherThreads::kNone);
  } else {
    helper.return_later();
  }
}

/// Forks while no helper runs: else the child might have a lock that the helper held, and no helper.
long fork_alone(long number, long a, long b, long c, long d, long e) {
  helper.step_aside();
  const long answer = syscall6(number, a, b, c, d, e);
  end_fork(answer);
  return as_libc(answer);
}

/// Such a call may be one of several, one per thread.
long call_by_number(long number, long a, long b, long c, long d, long e) {
  helper.step_aside();
  const long answer = syscall6(number, a, b, c, d, e);
  helper.return_later(tarn::internal::Helper::kLongPauseMs);
  return as_libc(answer);
}

/// The function that a child of clone runs, in its own copy of the parent's memory.
struct ClonedBody {
  int (*body)(void*);
  void* argument;
};
int run_cloned(void* cloned) {
  tarn::internal::os::OwnerLock::forget_other_threads();
  helper.forget_after_fork(tarn::internal::Helper::OtherThreads::kNone);
  const ClonedBody& child = *static_cast<const ClonedBody*>(cloned);
  return child.body(child.argument);
}

}  // namespace

TARN_C_API int setuid(uid_t user) noexcept { return next_setuid(user); }
TARN_C_API int seteuid(uid_t user) noexcept { return next_seteuid(user); }
TARN_C_API int setreuid(uid_t real, uid_t effective) noexcept { return next_setreuid(real, effective); }
TARN_C_API int setresuid(uid_t real, uid_t effective, uid_t saved) noexcept {
  return next_setresuid(real, effective, saved);
}
TARN_C_API int setgid(gid_t group) noexcept { return next_setgid(group); }
TARN_C_API int setegid(gid_t group) noexcept { return next_setegid(group); }
TARN_C_API int setregid(gid_t real, gid_t effective) noexcept { return next_setregid(real, effective); }
TARN_C_API int setresgid(gid_t real, gid_t effective, gid_t saved) noexcept {
  return next_setresgid(real, effective, saved);
}
TARN_C_API int setgroups(std::size_t count, const gid_t* groups) noexcept {
  return next_setgroups(count, groups);
}
TARN_C_API int initgroups(const char* user, gid_t group) {
  // It reads files. A thread that is cancelled there would leave its pause behind: nothing here is unwound.
  int state = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  const int answer = next_initgroups(user, group);
  pthread_setcancelstate(state, nullptr);
  return answer;
}

TARN_C_API int capset(cap_user_header_t header, const cap_user_data_t data) noexcept {
  return static_cast<int>(call_alone(SYS_capset, to_long(header), to_long(data)));
}
TARN_C_API int unshare(int flags) noexcept { return static_cast<int>(call_alone(SYS_unshare, flags)); }
TARN_C_API int setns(int descriptor, int kind) noexcept {
  return static_cast<int>(call_alone(SYS_setns, descriptor, kind));
}
TARN_C_API int chroot(const char* path) noexcept {
  return static_cast<int>(call_alone(SYS_chroot, to_long(path)));
}
TARN_C_API int close_range(unsigned first, unsigned last, int flags) noexcept {
  if ((flags & CLOSE_RANGE_UNSHARE) != 0)
    return static_cast<int>(call_alone(SYS_close_range, first, last, flags));
  return static_cast<int>(as_libc(syscall6(SYS_close_range, first, last, flags)));
}

TARN_C_API int clone(int (*body)(void*), void* stack, int flags, void* argument, ...) noexcept {
  va_list arguments;
  va_start(arguments, argument);
  void *const parent_id = va_arg(arguments, void*), *const storage = va_arg(arguments, void*),
              *const child_id = va_arg(arguments, void*);
  va_end(arguments);
  const auto next = next_clone.find();
  if (next == nullptr) return errno = ENOSYS, -1;
  if ((flags & CLONE_VM) != 0 || body == nullptr)
    return next(body, stack, flags, argument, parent_id, storage, child_id);
  ClonedBody cloned{body, argument};
  helper.step_aside();
  const int child = next(run_cloned, stack, flags, &cloned, parent_id, storage, child_id);
  helper.return_later();
  return child;
}

// libc's own _Fork runs no handlers: only the following is left to do.
TARN_C_API pid_t _Fork() noexcept {
  helper.step_aside();
  const pid_t child = next_fork();
  end_fork(child);
  return child;
}

TARN_C_API int prctl(int option, ...) noexcept {
  va_list arguments;
  va_start(arguments, option);
  const long b = va_arg(arguments, long), c = va_arg(arguments, long), d = va_arg(arguments, long),
             e = va_arg(arguments, long);
  va_end(arguments);
  if (option == PR_SET_SECCOMP) return static_cast<int>(set_filter(SYS_prctl, option, b, c, d, e));
  if (changes_privileges(option)) return static_cast<int>(call_alone(SYS_prctl, option, b, c, d, e));
  return static_cast<int>(as_libc(syscall6(SYS_prctl, option, b, c, d, e)));
}

// libc declares syscall with a variable argument list; its callers pass seven words in the same registers.
TARN_C_API long tarn_syscall(long number, long a, long b, long c, long d, long e, long f) noexcept
    asm("syscall");
long tarn_syscall(long number, long a, long b, long c, long d, long e, long f) noexcept {
  if (is_fork(number, a, b)) return fork_alone(number, a, b, c, d, e);
  switch (care_for(number, a, c)) {
    case Care::kNone:
      break;
    case Care::kAlone:
      return call_by_number(number, a, b, c, d, e);
    case Care::kSetsFilter:
      return set_filter(number, a, b, c, d, e);
    case Care::kEndsThread:  // when main's thread ends this way, the process ends with its last thread
      helper.step_aside();
      helper.return_later();
      break;
  }
  return as_libc(syscall6(number, a, b, c, d, e, f));
}
