#include "os/fatal.h"

#include <csignal>
#include <cstdint>

#include "base/text.h"
#include "os/other_copies.h"
#include "os/syscall.h"

namespace tarn::internal::os {

void write_line(const char* text, unsigned long length) {
  syscall6(SYS_write, 2, to_long(text), to_long(length));
}
void write_line(const Text& line) { write_line(line.data(), line.length()); }

namespace {

// A SIGABRT handler of the program might allocate and wait for a lock that the failed call holds. Uses no
// libc: it may be in the midst of something too.
[[noreturn]] void stop_process() {
  struct {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)();
    std::uint64_t mask;
  } const by_default{};
  const std::uint64_t abort_signal = std::uint64_t{1} << (SIGABRT - 1);
  syscall6(SYS_rt_sigaction, SIGABRT, to_long(&by_default), 0, sizeof abort_signal);
  syscall6(SYS_rt_sigprocmask, SIG_UNBLOCK, to_long(&abort_signal), 0, sizeof abort_signal);
  syscall6(SYS_tgkill, syscall6(SYS_getpid), syscall6(SYS_gettid), SIGABRT);
  for (;;) syscall6(SYS_exit_group, 127);
}

[[noreturn]] void stop(Text& line, const void* address) {
  if (address != nullptr) {
    line.add(": ").add_hex(reinterpret_cast<unsigned long>(address));
    add_other_copy(line, address);
  }
  line.add('\n');
  write_line(line);
  stop_process();
}

}  // namespace

void fatal(const char* what, const void* address) {
  FixedText<1024> line;
  line.add("tarn: ").add(what);
  stop(line, address);
}

void fatal_in_pool(const char* pool, const char* what, const void* address) {
  FixedText<1024> line;
  line.add("tarn: ").add(what).add(" in '").add(pool).add('\'');
  stop(line, address);
}

}  // namespace tarn::internal::os
