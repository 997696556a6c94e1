#include "system/asked_child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <exception>
#include <system_error>

#include "system/child_process.h"

namespace tarn::tool {
namespace {

using Clock = std::chrono::steady_clock;

/// \why a mark at the end: what a child wrote before it died is no answer
constexpr char kEnd = '\0';

void write_all(int pipe, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(pipe, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

[[noreturn]] void answer_and_exit(int pipe, const std::function<std::string()>& answer) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    write_all(pipe, answer() + kEnd);
  } catch (const std::exception&) {
    _exit(1);
  }
  _exit(0);
}

std::string read_until(int pipe, Clock::time_point deadline) {
  std::string text;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd ready = {pipe, POLLIN, 0};
    if (left <= 0 || poll(&ready, 1, static_cast<int>(left)) <= 0) return text;
    char part[4096];
    const ssize_t count = read(pipe, part, sizeof part);
    if (count <= 0) return text;
    text.append(part, static_cast<std::size_t>(count));
  }
}

}  // namespace

std::optional<std::string> ask_child(double seconds, const std::function<std::string()>& answer) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  Descriptor reading(ends[0]), writing(ends[1]);
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) answer_and_exit(writing.get(), answer);
  writing.reset();
  const auto limit = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  std::string text = read_until(reading.get(), Clock::now() + limit);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  if (text.empty() || text.back() != kEnd) return std::nullopt;
  text.pop_back();
  return text;
}

}  // namespace tarn::tool
