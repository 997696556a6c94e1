// Linux's part of os/fatal.h: where the last line goes, and how the process ends.
#include <sys/mman.h>

#include <csignal>
#include <cstdint>
#include <cstring>

#include "base/text.h"
#include "os/fatal.h"
#include "os/syscall.h"

namespace tarn::internal::os {

void write_line(const char* text, std::size_t length) {
  syscall6(SYS_write, 2, to_long(text), to_long(length));
}

namespace {

void raise_abort() { syscall6(SYS_tgkill, syscall6(SYS_getpid), syscall6(SYS_gettid), SIGABRT); }

// What libc's abort_msg_s is. No page begins with it: a later abort of libc's unmaps those that do.
struct alignas(32) AbortMessage {
  std::uint64_t before[2];
  unsigned bytes;
  char text[1024];
};
constinit AbortMessage abort_message{};

void leave_in_libc(const Text& line) {
  void** const place = abort_message_of_libc.load(std::memory_order_relaxed);
  if (place == nullptr || line.length() >= sizeof abort_message.text) return;
  std::memcpy(abort_message.text, line.data(), line.length());
  abort_message.text[line.length()] = '\0';
  abort_message.bytes = sizeof abort_message.bytes + sizeof abort_message.text;
  *place = &abort_message.bytes;
}

// The kernel writes the names of mapped files into a core file's notes. A filter of system calls may be in
// force: then nothing is mapped.
void leave_in_notes(const Text& line) {
  constexpr unsigned long kLongestName = 240;
  char name[kLongestName + 1]{};
  const unsigned long length = line.length() - 1;  // without the end of the line
  std::memcpy(name, line.data(), length < kLongestName ? length : kLongestName);
  const long file = syscall6(SYS_memfd_create, to_long(name), MFD_CLOEXEC);
  if (file < 0) return;
  syscall6(SYS_mmap, 0, 4096, PROT_READ, MAP_SHARED, file, 0);
  syscall6(SYS_close, file);
}

}  // namespace

// A SIGABRT handler of the program might allocate and wait for a lock that the failed call holds: it runs
// only where the program says so. Uses no libc: it may be in the midst of something too.
void stop_process() {
  struct {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)();
    std::uint64_t mask;
  } const by_default{};
  const std::uint64_t abort_signal = std::uint64_t{1} << (SIGABRT - 1);
  syscall6(SYS_rt_sigprocmask, SIG_UNBLOCK, to_long(&abort_signal), 0, sizeof abort_signal);
  static constinit std::atomic<long> last_thread{0};
  // A handler that comes here itself is not called again.
  const long thread = syscall6(SYS_gettid);
  if (at_misuse == AtMisuse::kHandler && last_thread.exchange(thread) != thread) raise_abort();
  syscall6(SYS_rt_sigaction, SIGABRT, to_long(&by_default), 0, sizeof abort_signal);
  syscall6(SYS_rt_sigprocmask, SIG_UNBLOCK, to_long(&abort_signal), 0, sizeof abort_signal);
  raise_abort();
  for (;;) syscall6(SYS_exit_group, 127);
}

void tell_last_line(const Text& line) {
  write_line(line);
  leave_in_libc(line);
  if (!makes_common_calls_only()) leave_in_notes(line);
}

}  // namespace tarn::internal::os
