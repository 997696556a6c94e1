// Where the last line goes on Windows, and how the process ends.
#include <csignal>

#include "base/text.h"
#include "os/fatal.h"
#include "os/other_copies.h"
#include "os/windows/system.h"

namespace tarn::internal::os {

void write_line(const char* text, std::size_t length) {
  DWORD written = 0;
  WriteFile(GetStdHandle(STD_ERROR_HANDLE), text, static_cast<DWORD>(length), &written, nullptr);
}

void tell_last_line(const Text& line) {
  write_line(line);
  if (IsDebuggerPresent() == 0) return;  // else handlers of exceptions, which may allocate, are told of it
  FixedText<1024> ended;
  ended.add({line.data(), line.length()}).add('\0');
  OutputDebugStringA(ended.data());
}

// The program's handler of SIGABRT might allocate and wait for a lock that the failed call holds: it runs
// only where the program says so. The exit code is that of the runtime's abort().
void stop_process() {
  constexpr UINT kAborted = 3;
  static constinit std::atomic<DWORD> last_thread{0};
  const DWORD thread = GetCurrentThreadId();
  if (at_misuse == AtMisuse::kHandler && last_thread.exchange(thread) != thread) std::raise(SIGABRT);
  TerminateProcess(GetCurrentProcess(), kAborted);
  for (;;) Sleep(INFINITE);
}

// A DLL has the C API alone, and its blocks are not told apart from those of a program's own copy.
bool is_code_beside_other_copy(const void*) { return false; }
void add_other_copy(Text&, const void*) {}

}  // namespace tarn::internal::os

// malloc is the runtime's.
extern "C" bool tarn_serves_malloc() { return false; }
