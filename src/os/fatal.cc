#include "os/fatal.h"

#include <sys/mman.h>

#include <csignal>
#include <cstdint>
#include <cstring>

#include "base/text.h"
#include "os/other_copies.h"
#include "os/syscall.h"

namespace tarn::internal::os {

void write_line(const char* text, unsigned long length) {
  syscall6(SYS_write, 2, to_long(text), to_long(length));
}
void write_line(const Text& line) { write_line(line.data(), line.length()); }

namespace {

void raise_abort() { syscall6(SYS_tgkill, syscall6(SYS_getpid), syscall6(SYS_gettid), SIGABRT); }

// A SIGABRT handler of the program might allocate and wait for a lock that the failed call holds: it runs
// only where the program says so. Uses no libc: it may be in the midst of something too.
[[noreturn]] void stop_process() {
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

void end_line(Text& line, const void* address) {
  if (address != nullptr) {
    line.add(": ").add_hex(reinterpret_cast<unsigned long>(address));
    add_other_copy(line, address);
  }
  line.add('\n');
}

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

[[noreturn]] void stop(Text& line, const void* address, std::size_t block_bytes = 0) {
  end_line(line, address);
  tell_last_line(line);
  tell_who(block_bytes);
  stop_process();
}

Text& start_in_pool(Text& line, const char* pool, const char* what) {
  return line.add("tarn: ").add(what).add(" in '").add(pool).add('\'');
}

}  // namespace

void tell_last_line(const Text& line) {
  write_line(line);
  leave_in_libc(line);
  if (!makes_common_calls_only()) leave_in_notes(line);
}

void fatal(const char* what, const void* address, std::size_t block_bytes) {
  FixedText<1024> line;
  line.add("tarn: ").add(what);
  stop(line, address, block_bytes);
}

void fatal_in_pool(const char* pool, const char* what, const void* address, std::size_t block_bytes) {
  FixedText<1024> line;
  stop(start_in_pool(line, pool, what), address, block_bytes);
}

void misuse(const char* what, const void* address, const char* pool, std::size_t block_bytes,
            TellMore tell_more) {
  FixedText<1024> line;
  if (pool == nullptr)
    line.add("tarn: ").add(what);
  else
    start_in_pool(line, pool, what);
  end_line(line, address);
  const bool stops = at_misuse != AtMisuse::kReport;
  stops ? tell_last_line(line) : write_line(line);
  tell_who(block_bytes);
  if (tell_more != nullptr) tell_more(address);
  if (stops) stop_process();
}

}  // namespace tarn::internal::os
