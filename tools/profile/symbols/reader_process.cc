#include "profile/symbols/reader_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <exception>

#include "observer/files/outside_wait.h"

namespace tarn::profile {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLongestLine = std::size_t{1} << 20;
constexpr rlim_t kMostMemory = rlim_t{16} << 30;

void limit(int resource, rlim_t most) {
  rlimit now{};
  if (getrlimit(resource, &now) == 0 && now.rlim_cur > most) {
    now.rlim_cur = most;
    setrlimit(resource, &now);
  }
}

/// The tool may hold these back, to end in order.
bool is_to_end() {
  sigset_t pending;
  if (sigpending(&pending) != 0) return false;
  return sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1;
}

}  // namespace

ReaderProcess::ReaderProcess(
    const std::function<void(const std::function<void(const std::string&)>&)>& work) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  output_ = observer::Descriptor(ends[0]);
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    observer::waits = &observer::own_waits;  // this one's waits end by next_line()
    limit(RLIMIT_AS, kMostMemory);
    limit(RLIMIT_CORE, 0);
    try {
      work([&](const std::string& line) {
        if (!observer::write_all(ends[1], line + '\n')) _exit(1);
      });
    } catch (const std::exception&) {
      _exit(1);
    }
    _exit(0);
  }
  close(ends[1]);
}

ReaderProcess::~ReaderProcess() {
  output_.reset();
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  // Where the kernel does not let go of it, it is left behind.
  constexpr int kLongestMs = 256;  // half a second in all
  for (int ms = 1; ms <= kLongestMs && waitpid(pid_, nullptr, WNOHANG) == 0; ms *= 2) poll(nullptr, 0, ms);
}

std::optional<std::string> ReaderProcess::take_line() {
  const std::size_t end = read_.find('\n', taken_);
  if (end == std::string::npos) return std::nullopt;
  std::string line = read_.substr(taken_, end - taken_);
  taken_ = end + 1;
  return line;
}

std::optional<std::string> ReaderProcess::next_line(double seconds) {
  constexpr int kTickMs = 100;
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  for (;;) {
    if (std::optional<std::string> line = take_line()) return line;
    read_.erase(0, taken_);
    taken_ = 0;
    if (!output_.is_open() || read_.size() > kLongestLine || is_to_end() || Clock::now() > until) return {};
    pollfd output{output_.get(), POLLIN, 0};
    if (poll(&output, 1, kTickMs) <= 0) continue;
    std::array<char, 65536> part;
    const ssize_t count = read(output_.get(), part.data(), part.size());
    if (count <= 0) return {};
    read_.append(part.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace tarn::profile
