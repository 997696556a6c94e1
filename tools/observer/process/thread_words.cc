#include "observer/process/thread_words.h"

#include <elf.h>
#include <errno.h>
#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>

namespace tarn::observer {
namespace {

constexpr std::size_t kMostRegisterWords = 128;
constexpr int kMostWaits = 1000;  // of 100 us each

std::vector<int> threads_of(const AttachedProcess& process) {
  std::vector<int> threads;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(process.directory_path() + "/task", error)) {
    const std::string name = entry.path().filename().string();
    int number = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), number).ec == std::errc{})
      threads.push_back(number);
  }
  return threads;
}

/// \returns the status that waitpid gave; nothing if the thread does not stop.
std::optional<int> wait_for_stop(int thread) {
  for (int i = 0; i < kMostWaits; ++i) {
    int status = 0;
    const int got = waitpid(thread, &status, __WALL | WNOHANG);
    if (got == thread) return WIFSTOPPED(status) ? std::optional(status) : std::nullopt;
    if (got < 0 && errno != EINTR) return std::nullopt;
    const timespec pause = {0, 100'000};
    nanosleep(&pause, nullptr);
  }
  return std::nullopt;
}

/// A signal that arrived in the same moment is handed on.
int signal_to_hand_on(int status) { return status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status); }

void let_go(int thread, int status) {
  ptrace(PTRACE_DETACH, thread, nullptr, static_cast<long>(signal_to_hand_on(status)));
}

enum class Stop { kStopped, kEnded, kRefused };

/// \param status of the stop, as waitpid gave it.
Stop stop_thread(const AttachedProcess& process, int thread, int* status) {
  if (ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0) {
    if (errno == ESRCH) return Stop::kEnded;
    throw ObserveError(
        fmt::format("process {} cannot be stopped ({}): is a debugger attached? Look without --stop",
                    process.pid(), std::strerror(errno)));
  }
  // Its number cannot be used again now: it is a thread of the process, or was used again before.
  if (!process.open(fmt::format("task/{}/stat", thread)).is_open()) {
    ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr);
    if (const std::optional<int> stopped = wait_for_stop(thread)) let_go(thread, *stopped);
    return Stop::kEnded;
  }
  if (ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr) != 0)
    return errno == ESRCH ? Stop::kEnded : Stop::kRefused;
  const std::optional<int> stopped = wait_for_stop(thread);
  if (!stopped) return Stop::kRefused;
  *status = *stopped;
  return Stop::kStopped;
}

/// \returns whether the thread's registers were read, or it has ended.
bool read_stopped_thread(const AttachedProcess& process, int thread, std::vector<Address>& words) {
  int status = 0;
  const Stop stop = stop_thread(process, thread, &status);
  if (stop != Stop::kStopped) return stop == Stop::kEnded;
  append_registers(thread, words);
  let_go(thread, status);
  return true;
}

/// The threads of a process that are stopped now.
class StoppedAll {
 public:
  ~StoppedAll() {
    for (const auto& [thread, status] : threads_) let_go(thread, status);
  }

  /// \returns whether all threads are stopped. One that is still running may have made more meanwhile.
  bool stop(const AttachedProcess& process) {
    constexpr int kMostRounds = 20;
    for (int round = 0; round < kMostRounds; ++round) {
      bool is_new = false;
      for (const int thread : threads_of(process)) {
        if (threads_.contains(thread)) continue;
        is_new = true;
        int status = 0;
        const Stop stop = stop_thread(process, thread, &status);
        if (stop == Stop::kRefused) return false;
        if (stop == Stop::kStopped) threads_[thread] = status;
      }
      if (!is_new) return true;
    }
    return false;
  }

 private:
  std::map<int, int> threads_;  // with the status of its stop
};

}  // namespace

void append_registers(int thread, std::vector<Address>& words) {
  std::array<Address, kMostRegisterWords> registers;
  iovec whole = {registers.data(), sizeof registers};
  if (ptrace(PTRACE_GETREGSET, thread, reinterpret_cast<void*>(NT_PRSTATUS), &whole) == 0)
    words.insert(words.end(), registers.begin(),
                 registers.begin() + static_cast<std::ptrdiff_t>(whole.iov_len / sizeof(Address)));
}

std::vector<Address> call_words(const AttachedProcess& process) {
  std::vector<Address> words;
  for (const int thread : threads_of(process)) {
    std::istringstream call(process.text(fmt::format("task/{}/syscall", thread)).value_or(""));
    std::string word;
    // The call's number, its arguments, the stack pointer and where it was called; or "running".
    while (call >> word)
      if (word.starts_with("0x")) words.push_back(std::strtoull(word.c_str(), nullptr, 16));
  }
  return words;
}

StoppedThreads stopped_thread_words(const AttachedProcess& process) {
  StoppedThreads stopped;
  for (const int thread : threads_of(process))
    if (!read_stopped_thread(process, thread, stopped.words)) ++stopped.unseen;
  return stopped;
}

void while_stopped(const AttachedProcess& process, const std::function<void()>& use) {
  StoppedAll stopped;
  if (!stopped.stop(process))
    throw ObserveError(
        fmt::format("process {} has a thread that does not stop: look without --stop", process.pid()));
  use();
}

}  // namespace tarn::observer
