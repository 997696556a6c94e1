#include "os/fatal.h"

#include <csignal>
#include <cstdlib>

#include "base/text.h"
#include "os/syscall.h"

namespace tarn::internal::os {

void write_line(const char* text, unsigned long length) {
  syscall6(SYS_write, 2, reinterpret_cast<long>(text), static_cast<long>(length));
}

namespace {

[[noreturn]] void stop(Text& line, const void* address) {
  if (address != nullptr) line.add(": ").add_hex(reinterpret_cast<unsigned long>(address));
  line.add('\n');
  write_line(line.data(), line.length());
  // A handler of the program's might allocate, and the guilty call may hold the lock it would wait for.
  std::signal(SIGABRT, SIG_DFL);
  std::abort();
}

}  // namespace

void fatal(const char* what, const void* address) {
  FixedText<256> line;
  line.add("tarn: ").add(what);
  stop(line, address);
}

void fatal_in_pool(const char* pool, const char* what, const void* address) {
  FixedText<256> line;
  line.add("tarn: ").add(what).add(" in '").add(pool).add('\'');
  stop(line, address);
}

}  // namespace tarn::internal::os
