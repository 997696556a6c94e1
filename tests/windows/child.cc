// support/child.h without fork: the test's program is started again with the same test alone, and in it the
// body runs where the test has come to the same call. Calls before that one return there what they have
// returned here, but for the text.
#include "support/child.h"

#include <gtest/gtest.h>
#include <windows.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

namespace tarn::test {
namespace {

// In a child: how the calls before its own have ended, "status signal " each.
constexpr const char* kEnds = "TARN_TEST_CHILD";
std::string ends;
int calls = 0;

std::vector<ChildResult> ends_before() {
  std::vector<ChildResult> before;
  std::istringstream text(std::getenv(kEnds));
  for (ChildResult end; text >> end.exit_status >> end.signal;) before.push_back(end);
  return before;
}

/// A file that a child writes to, and its text at the end.
class Output {
 public:
  Output() {
    char folder[MAX_PATH], path[MAX_PATH];
    GetTempPathA(sizeof folder, folder);
    GetTempFileNameA(folder, "tarn", 0, path);
    path_ = path;
    SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
    handle_ = CreateFileA(path, GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, &inherited, CREATE_ALWAYS,
                          FILE_ATTRIBUTE_TEMPORARY, nullptr);
  }
  ~Output() { DeleteFileA(path_.c_str()); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  HANDLE handle() const { return handle_; }
  std::string text() {
    CloseHandle(handle_);
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string path_;
  HANDLE handle_;
};

void note_end(DWORD code, ChildResult& result) {
  constexpr DWORD kAborted = 3;
  if (code == kAborted)
    result.signal = SIGABRT;
  else if (code == EXCEPTION_ACCESS_VIOLATION)
    result.signal = SIGSEGV;
  else
    result.exit_status = static_cast<int>(code);
}

ChildResult run(std::string command, int timeout_seconds) {
  Output output, error;
  STARTUPINFOA start{};
  start.cb = sizeof start;
  start.dwFlags = STARTF_USESTDHANDLES;
  start.hStdOutput = output.handle();
  start.hStdError = error.handle();
  PROCESS_INFORMATION child{};
  ChildResult result;
  if (CreateProcessA(nullptr, command.data(), nullptr, nullptr, TRUE, 0, nullptr, nullptr, &start, &child) ==
      0)
    return result;
  DWORD code = 0;
  result.has_timed_out =
      WaitForSingleObject(child.hProcess, static_cast<DWORD>(timeout_seconds) * 1000) == WAIT_TIMEOUT;
  if (result.has_timed_out) TerminateProcess(child.hProcess, 1);
  WaitForSingleObject(child.hProcess, INFINITE);
  if (!result.has_timed_out && GetExitCodeProcess(child.hProcess, &code) != 0) note_end(code, result);
  CloseHandle(child.hThread);
  CloseHandle(child.hProcess);
  result.output = output.text();
  result.error = error.text();
  return result;
}

std::string name_of_this_test() {
  const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
  return std::string(test.test_suite_name()) + "." + test.name();
}

}  // namespace

std::string ChildResult::describe() const {
  std::string text = "status " + std::to_string(exit_status) + ", signal " + std::to_string(signal);
  if (has_timed_out) text += ", timed out";
  return text + "\noutput: " + output + "\nerror: " + error;
}

ChildResult run_in_child(const std::function<int()>& body, int timeout_seconds) {
  if (std::getenv(kEnds) != nullptr) {
    const std::vector<ChildResult> before = ends_before();
    if (calls < static_cast<int>(before.size())) return before[static_cast<std::size_t>(calls++)];
    std::fflush(nullptr);
    const int status = body();
    std::fflush(nullptr);
    TerminateProcess(GetCurrentProcess(), static_cast<UINT>(status));
  }
  char path[MAX_PATH];
  GetModuleFileNameA(nullptr, path, sizeof path);
  SetEnvironmentVariableA(kEnds, (ends + " ").c_str());
  ChildResult result = run(
      std::string("\"") + path + "\" --gtest_brief=1 --gtest_filter=" + name_of_this_test(), timeout_seconds);
  SetEnvironmentVariableA(kEnds, nullptr);
  ends += std::to_string(result.exit_status) + " " + std::to_string(result.signal) + " ";
  return result;
}

ChildResult run_program(const std::vector<std::string>& arguments,
                        const std::vector<std::string>& environment, int timeout_seconds) {
  std::string command;
  for (const std::string& argument : arguments) command += '"' + argument + "\" ";
  for (const std::string& entry : environment) _putenv(entry.c_str());
  return run(command, timeout_seconds);
}

}  // namespace tarn::test

namespace {

// What is noted is of one test.
class CountsFromEachTest : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override {
    tarn::test::calls = 0;
    tarn::test::ends.clear();
  }
};

const bool counts_from_each_test = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new CountsFromEachTest);
  return true;
}();

}  // namespace
