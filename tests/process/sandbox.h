// A filter that ends the process for any system call which is not on its list.
#pragma once
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstddef>
#include <vector>

namespace tarn::test {

// What libc's malloc needs.
inline constexpr unsigned kCallsOfMalloc[] = {SYS_brk,      SYS_mmap,    SYS_munmap, SYS_mremap,
                                              SYS_mprotect, SYS_madvise, SYS_futex};
// What a test needs to say how it went.
inline constexpr unsigned kCallsOfTests[] = {SYS_read, SYS_write, SYS_exit_group, SYS_exit, SYS_rt_sigreturn};

/// Allows these calls and no others. \returns false when the system allows no filter.
inline bool allow_what_libc_needs() {
  std::vector<sock_filter> instructions{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  const auto allow = [&](unsigned number) {
    instructions.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
    instructions.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  };
  for (const unsigned number : kCallsOfMalloc) allow(number);
  for (const unsigned number : kCallsOfTests) allow(number);
  instructions.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  const sock_fprog filter{static_cast<unsigned short>(instructions.size()), instructions.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}

}  // namespace tarn::test
