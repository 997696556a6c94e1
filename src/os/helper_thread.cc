// A thread by clone(2) and not by pthread_create, for three reasons: libc would take the process for multi-threaded
// (slower stdio and shared_ptr), would wait for it when main leaves by pthread_exit, and would allocate for it.
// The price: no thread-local storage. Its thread pointer refers to a zeroed block of its own, so that the stack
// protector's canary has a place.
#include <linux/prctl.h>
#include <sched.h>
#include <signal.h>

#include <atomic>

#include "base/units.h"
#include "os/process.h"
#include "os/syscall.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TARN_INSTRUMENTED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TARN_INSTRUMENTED 1
#endif
#endif

namespace tarn::internal::os {
namespace {

// Not 0 from the start of a helper until the kernel clears it, when the stack is free again.
constinit std::atomic<std::uint32_t> helper_is_alive{0};

#if !defined(TARN_INSTRUMENTED)
constexpr std::size_t kStackBytes = 64 * 1024;
constexpr std::size_t kThreadBlockBytes = 4096;

// There is one helper at a time. Backed by memory only when there is one.
alignas(kOsPageBytesLargest) constinit char helper_stack[kStackBytes] = {};
using HelperBody = void (*)();
constinit HelperBody helper_body = nullptr;
[[gnu::used]] void run_helper() {
  helper_body();
  for (;;) syscall6(SYS_exit, 0);
}

#if defined(__x86_64__)
long clone_helper(long flags, void* stack_top, void* thread_pointer) {
  register long r10 asm("r10") = reinterpret_cast<long>(&helper_is_alive);
  register long r8 asm("r8") = reinterpret_cast<long>(thread_pointer);
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
      : "a"(SYS_clone), "D"(flags), "S"(stack_top), "d"(0), "r"(r10), "r"(r8), [entry] "r"(&run_helper)
      : "rcx", "r11", "memory");
  return result;
}
#else
long clone_helper(long flags, void* stack_top, void* thread_pointer) {
  register long x8 asm("x8") = SYS_clone;
  register long x0 asm("x0") = flags;
  register void* x1 asm("x1") = stack_top;
  register long x2 asm("x2") = 0;
  register void* x3 asm("x3") = thread_pointer;
  register long x4 asm("x4") = reinterpret_cast<long>(&helper_is_alive);
  void (*const entry)() = &run_helper;
  asm volatile("svc 0\n\tcbnz x0, 1f\n\tmov x29, xzr\n\tblr %[entry]\n1:"
               : "+r"(x0)
               : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), [entry] "r"(entry)
               : "x30", "memory");
  return x0;
}
#endif

bool seccomp_is_active() { return syscall6(SYS_prctl, PR_GET_SECCOMP) != 0; }
#endif

}  // namespace

HelperStart start_helper(void (*body)()) {
#if defined(TARN_INSTRUMENTED)
  (void)body;
  return HelperStart::kRefused;
#else
  if (helper_is_alive.load(std::memory_order_acquire) != 0) return HelperStart::kLastOneStillEnds;
  if (seccomp_is_active()) return HelperStart::kRefused;
  helper_body = body;
  char* const thread_block = helper_stack + kStackBytes - kThreadBlockBytes;
  void** const thread_pointer = reinterpret_cast<void**>(thread_block + kThreadBlockBytes / 2);
  *thread_pointer = thread_pointer;  // the x86-64 ABI's self pointer

  constexpr long kFlags =
      CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |
                          CLONE_CHILD_CLEARTID;
  std::uint64_t all = ~std::uint64_t{0}, before = 0;
  syscall6(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&all), reinterpret_cast<long>(&before), 8);
  helper_is_alive.store(1, std::memory_order_relaxed);
  const long thread = clone_helper(kFlags, thread_block, thread_pointer);
  syscall6(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&before), 0, 8);
  if (thread > 0) return HelperStart::kStarted;
  helper_is_alive.store(0, std::memory_order_relaxed);
  return HelperStart::kRefused;
#endif
}

void forget_helper_after_fork() { helper_is_alive.store(0, std::memory_order_relaxed); }

}  // namespace tarn::internal::os
