#include "os/process/helper_thread.h"

#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/mman.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include <atomic>
#include <climits>
#include <cstddef>

#include "base/units.h"
#include "os/process/processors.h"
#include "os/syscall.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TARN_INSTRUMENTED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TARN_INSTRUMENTED 1
#endif
#endif

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

namespace tarn::internal::os {
namespace {

constexpr std::size_t kGuardBytes = kOsPageBytesLargest;
constexpr std::size_t kRoomBytes = 128 * 1024;  // stack, thread block and record
constexpr std::size_t kThreadBlockBytes = 4096;
constexpr unsigned kMostWaits = 10;
constexpr std::uint64_t kWaitMs = 100;
constexpr long kMomentNs = 20'000;
// After this time, the helper must not keep the thread that frees waiting any longer.
constexpr std::uint64_t kLongestConfinementMs = 10;
constexpr unsigned kLeastThreadLimit = 256;  // RLIMIT_NPROC; with a lower one, programs may count threads

/// At the top of the helper's memory. A child of a fork finds it empty.
struct HelperRecord {
  std::atomic<std::uint32_t> is_alive;  // the kernel clears it when the thread ends
  std::atomic<std::uint32_t> must_stop;
  std::atomic<std::uint32_t> wakes;
  std::atomic<std::uint32_t> is_confined;  // the helper has given up its privileges
  std::atomic<std::uint32_t> has_ended;    // the helper ended by itself
  std::uint32_t number;
  long process;
  long thread;
  bool main_is_known;  // main's thread has a robust list, which the kernel drops at its end (main_has_ended)
  void (*body)();
};

constinit std::atomic<char*> room{nullptr};

HelperRecord* record_of(char* memory) {
  return reinterpret_cast<HelperRecord*>(memory + kRoomBytes - sizeof(HelperRecord));
}
HelperRecord* helper_record() {
  char* const memory = room.load(std::memory_order_acquire);
  return memory == nullptr ? nullptr : record_of(memory);
}

void wait_for(const std::atomic<std::uint32_t>& word, std::uint32_t value, int operation,
              std::uint64_t timeout_ms) {
  const timespec timeout{static_cast<time_t>(timeout_ms / 1000),
                         static_cast<long>(timeout_ms % 1000 * 1000000)};
  syscall6(SYS_futex, to_long(&word), operation, value, to_long(&timeout));
}

#if !defined(TARN_INSTRUMENTED)

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#else
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#endif

constexpr sock_filter statement(unsigned code, std::uint32_t value) {
  return {static_cast<std::uint16_t>(code), 0, 0, value};
}
/// Returns `action` when the loaded word is `value`.
#define TARN_IF_EQUAL(value, action) \
  {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, static_cast<std::uint32_t>(value)}, statement(BPF_RET | BPF_K, action)

// The system calls that the helper may make: for its work, and for stopping the process with a line.
constexpr sock_filter kFilter[] = {
    statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
    {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, kArchitecture},
    statement(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
    statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
    TARN_IF_EQUAL(SYS_futex, SECCOMP_RET_ALLOW),
    TARN_IF_EQUAL(SYS_madvise, SECCOMP_RET_ALLOW),
    TARN_IF_EQUAL(SYS_clock_gettime, SECCOMP_RET_ALLOW),
    TARN_IF_EQUAL(SYS_get_robust_list, SECCOMP_RET_ALLOW),
    TARN_IF_EQUAL(SYS_exit, SECCOMP_RET_ALLOW),
    TARN_IF_EQUAL(SYS_exit_group, SECCOMP_RET_ALLOW),
    TARN_IF_EQUAL(SYS_getpid, SECCOMP_RET_ALLOW),
    TARN_IF_EQUAL(SYS_gettid, SECCOMP_RET_ALLOW),
    TARN_IF_EQUAL(SYS_rt_sigaction, SECCOMP_RET_ALLOW),
    TARN_IF_EQUAL(SYS_rt_sigprocmask, SECCOMP_RET_ALLOW),
    TARN_IF_EQUAL(SYS_rt_sigreturn, SECCOMP_RET_ALLOW),
    TARN_IF_EQUAL(SYS_restart_syscall, SECCOMP_RET_ALLOW),
    {BPF_JMP | BPF_JEQ | BPF_K, 0, 3, SYS_write},
    statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
    TARN_IF_EQUAL(2, SECCOMP_RET_ALLOW),
    statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
    {BPF_JMP | BPF_JEQ | BPF_K, 0, 3, SYS_tgkill},
    statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
    TARN_IF_EQUAL(SIGABRT, SECCOMP_RET_ALLOW),
    statement(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
};
#undef TARN_IF_EQUAL

// On Linux a thread has its own privileges: the helper gives its own up, the process keeps them. The helper
// gives up a real-time scheduling class last: as an ordinary thread it may have to wait for long.
void give_up_privileges() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  syscall6(SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL);
  syscall6(SYS_capset, to_long(&header), to_long(none));
  syscall6(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1);
  const long policy = syscall6(SYS_sched_getscheduler, 0);
  const sched_param no_priority{};
  if (policy == SCHED_FIFO || policy == SCHED_RR)
    syscall6(SYS_sched_setscheduler, 0, SCHED_OTHER, to_long(&no_priority));
  const sock_fprog program{sizeof kFilter / sizeof kFilter[0], const_cast<sock_filter*>(kFilter)};
  syscall6(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, to_long(&program));
}

// Resets what the helper inherited from the thread that made it.
void become_ordinary() {
  syscall6(SYS_prctl, PR_SET_NAME, to_long("tarn-helper"));
  use_all_processors();
}

// The kernel keeps a list for each thread that libc made, and forgets the list when the thread ends.
bool has_robust_list(long thread) {
  void* head = nullptr;
  std::size_t bytes = 0;
  return syscall6(SYS_get_robust_list, thread, to_long(&head), to_long(&bytes)) == 0 && head != nullptr;
}

[[gnu::used]] void run_helper() {
  HelperRecord& record = *helper_record();
  record.main_is_known = has_robust_list(record.process);
  become_ordinary();
  give_up_privileges();
  record.is_confined.store(1, std::memory_order_release);
  syscall6(SYS_futex, to_long(&record.is_confined), FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
  record.body();
  record.has_ended.store(1, std::memory_order_release);
  for (;;) syscall6(SYS_exit, 0);
}

#if defined(__x86_64__)
long clone_helper(long flags, void* stack_top, void* thread_pointer, void* is_alive) {
  register long r10 asm("r10") = to_long(is_alive);
  register long r8 asm("r8") = to_long(thread_pointer);
  register void (*r9)() asm("r9") = &run_helper;
  long result;
  asm volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xor %%ebp, %%ebp\n\t"
      "call *%[entry]\n\t"
      "hlt\n"
      "1:"
      : "=a"(result)
      : "a"(SYS_clone), "D"(flags), "S"(stack_top), "d"(0), "r"(r10), "r"(r8), [entry] "r"(r9)
      : "rcx", "r11", "memory");
  return result;
}
#else
long clone_helper(long flags, void* stack_top, void* thread_pointer, void* is_alive) {
  register long x8 asm("x8") = SYS_clone;
  register long x0 asm("x0") = flags;
  register void* x1 asm("x1") = stack_top;
  register long x2 asm("x2") = 0;
  register void* x3 asm("x3") = thread_pointer;
  register void* x4 asm("x4") = is_alive;
  register void (*x9)() asm("x9") = &run_helper;
  asm volatile("svc 0\n\tcbnz x0, 1f\n\tmov x29, xzr\n\tblr %[entry]\n1:"
               : "+r"(x0)
               : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), [entry] "r"(x9)
               : "x30", "memory");
  return x0;
}
#endif

bool is_near_thread_limit() {
  rlimit limit{};
  return syscall6(SYS_prlimit64, 0, RLIMIT_NPROC, 0, to_long(&limit)) != 0 ||
         limit.rlim_cur < kLeastThreadLimit;
}

std::uint64_t random_number() {
  std::uint64_t number = 0;
  constexpr long kNonBlocking = 1;
  if (syscall6(SYS_getrandom, to_long(&number), sizeof number, kNonBlocking) == sizeof number) return number;
  timespec now{};
  syscall6(SYS_clock_gettime, CLOCK_MONOTONIC, to_long(&now));
  return static_cast<std::uint64_t>(now.tv_nsec) * 0x9e3779b97f4a7c15;
}

// Chooses a random place in the lower half of the address space, far from all libraries; another place when
// it is taken.
bool make_room() {
  if (room.load(std::memory_order_relaxed) != nullptr) return true;
  constexpr std::uintptr_t kFirst = std::uintptr_t{1} << 40, kRange = std::uintptr_t{1} << 45;
  const std::uintptr_t wished = kFirst + (random_number() % kRange & ~(kOsPageBytesLargest - 1));
  constexpr std::size_t kBytes = kRoomBytes + 2 * kGuardBytes;
  const long start = syscall6(SYS_mmap, static_cast<long>(wished), kBytes, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start < 0 && start > -4096) return false;
  char* const memory = reinterpret_cast<char*>(start) + kGuardBytes;
  if (syscall6(SYS_mprotect, to_long(memory), kRoomBytes, PROT_READ | PROT_WRITE) != 0) {
    syscall6(SYS_munmap, start, kBytes);
    return false;
  }
  syscall6(SYS_madvise, to_long(memory), kRoomBytes, MADV_WIPEONFORK);
  room.store(memory, std::memory_order_release);
  return true;
}

bool main_has_ended(const HelperRecord& record) {
  return record.main_is_known && !has_robust_list(record.process);
}

#endif

}  // namespace

bool seccomp_is_active() { return syscall6(SYS_prctl, PR_GET_SECCOMP) != 0; }

#if defined(TARN_INSTRUMENTED)

bool may_have_helper() { return false; }
HelperStart start_helper(void (*)()) { return HelperStart::kRefused; }
bool is_on_helper() { return false; }
bool helper_must_stop() { return false; }

#else

bool may_have_helper() { return !seccomp_is_active() && !is_near_thread_limit(); }

HelperStart start_helper(void (*body)()) {
  if (!make_room()) return HelperStart::kRefused;
  char* const memory = room.load(std::memory_order_relaxed);
  HelperRecord& record = *record_of(memory);
  const long process = syscall6(SYS_getpid);
  if (record.process != 0 && record.process != process) return HelperStart::kNotNow;  // a vfork's child
  record.number += 1;
  record.must_stop.store(0, std::memory_order_relaxed);
  record.is_confined.store(0, std::memory_order_relaxed);
  record.has_ended.store(0, std::memory_order_relaxed);
  record.process = process;
  record.body = body;
  char* const thread_block = memory + kRoomBytes - kThreadBlockBytes;
  std::uint64_t* const thread_pointer =
      reinterpret_cast<std::uint64_t*>(thread_block + kThreadBlockBytes / 2);
  *thread_pointer = static_cast<std::uint64_t>(to_long(thread_pointer));  // the x86-64 ABI's self pointer
  thread_pointer[5] = random_number() & ~std::uint64_t{0xff};             // the stack protector's canary

  constexpr long kFlags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                          CLONE_SETTLS | CLONE_CHILD_CLEARTID;
  const SignalBlock no_signals;  // the helper inherits the mask of the thread that makes it
  record.is_alive.store(1, std::memory_order_relaxed);
  record.thread = clone_helper(kFlags, thread_block, thread_pointer, &record.is_alive);
  if (record.thread > 0) {
    // Other threads must not see a helper that still has the privileges of the thread that made it.
    wait_for(record.is_confined, 0, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, kLongestConfinementMs);
    return HelperStart::kStarted;
  }
  record.is_alive.store(0, std::memory_order_relaxed);
  return HelperStart::kRefused;
}

bool is_on_helper() {
  const char here = 0;
  const char* const memory = room.load(std::memory_order_relaxed);
  return memory != nullptr && address_of(&here) - address_of(memory) < kRoomBytes;
}

bool helper_must_stop() {
  if (!is_on_helper()) return false;
  const HelperRecord& record = *helper_record();
  return record.must_stop.load(std::memory_order_acquire) != 0 || main_has_ended(record);
}

#endif

std::uint32_t helper_number() {
  const HelperRecord* const record = helper_record();
  return record == nullptr ? 0 : record->number;
}

bool helper_is_alive() {
  const HelperRecord* const record = helper_record();
  return record != nullptr && record->is_alive.load(std::memory_order_acquire) != 0;
}

HelperEnd stop_helper() {
  if (!helper_is_alive()) return HelperEnd::kWasNone;
  HelperRecord& record = *helper_record();
  // A vfork's child shares this memory, but the helper is not a thread of the child.
  if (record.process != syscall6(SYS_getpid)) return HelperEnd::kWasNone;
  record.must_stop.store(1, std::memory_order_release);
  wake_helper();
  // The kernel wakes waiters at a thread's end with a shared futex, not a private one.
  for (unsigned i = 0; record.is_alive.load(std::memory_order_acquire) != 0; ++i) {
    if (i == kMostWaits) return HelperEnd::kGoesOn;
    wait_for(record.is_alive, 1, FUTEX_WAIT, kWaitMs);
  }
  // The kernel clears the word before the thread has left its group.
  while (syscall6(SYS_tgkill, record.process, record.thread, 0) == 0) {
    const timespec moment{0, kMomentNs};
    syscall6(SYS_nanosleep, to_long(&moment));
  }
  return record.has_ended.load(std::memory_order_acquire) != 0 ? HelperEnd::kEnded : HelperEnd::kWasKilled;
}

std::uint32_t helper_wakes() { return helper_record()->wakes.load(std::memory_order_acquire); }

void helper_sleep(std::uint32_t wakes_seen, std::uint64_t timeout_ms) {
  wait_for(helper_record()->wakes, wakes_seen, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, timeout_ms);
}

void wake_helper() {
  HelperRecord* const record = helper_record();
  if (record == nullptr) return;
  record->wakes.fetch_add(1, std::memory_order_release);
  syscall6(SYS_futex, to_long(&record->wakes), FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT_MAX);
}

void forget_helper_after_fork() {
  HelperRecord* const record = helper_record();
  if (record == nullptr) return;
  record->is_alive.store(0, std::memory_order_relaxed);
  record->process = 0;
}

bool has_privileges() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
  if (syscall6(SYS_capget, to_long(&header), to_long(data)) != 0) return true;
  for (const __user_cap_data_struct& part : data)
    if ((part.permitted | part.effective) != 0) return true;
  std::uint32_t real = 0, effective = 0, saved = 0;
  if (syscall6(SYS_getresuid, to_long(&real), to_long(&effective), to_long(&saved)) != 0) return true;
  return effective == 0 || real != effective || saved != effective;
}

SignalBlock::SignalBlock() {
  const std::uint64_t all = ~std::uint64_t{0};
  syscall6(SYS_rt_sigprocmask, SIG_SETMASK, to_long(&all), to_long(&before_), sizeof all);
}

SignalBlock::~SignalBlock() {
  syscall6(SYS_rt_sigprocmask, SIG_SETMASK, to_long(&before_), 0, sizeof before_);
}

}  // namespace tarn::internal::os
