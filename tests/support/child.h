// Work in a child process, so that a crash, a hang or an abort is an answer and not the end of the test.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace tarn::test {

struct ChildResult {
  int exit_status = -1;  // -1: it did not exit by itself
  int signal = 0;        // what ended it; SIGKILL also when its time was over
  bool has_timed_out = false;
  std::string output;  // what it wrote to standard output
  std::string error;   // and to standard error

  bool is_success() const { return exit_status == 0; }
  /// One line for a test's message.
  std::string describe() const;
};

/// Runs `body` in a forked child, which ends with its answer as exit status, by _exit.
ChildResult run_in_child(const std::function<int()>& body, int timeout_seconds = 60);

/// \returns whether a read at the address ends the process.
inline bool faults(const char* address) {
  return !run_in_child([&] { return static_cast<const volatile char*>(address)[0] & 0; }).is_success();
}

/// Runs a program; `environment` adds "NAME=value" entries to the own one.
ChildResult run_program(const std::vector<std::string>& arguments,
                        const std::vector<std::string>& environment = {}, int timeout_seconds = 60);

}  // namespace tarn::test
