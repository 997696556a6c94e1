#include "system/guard.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <new>
#include <optional>
#include <system_error>

#include "observer/bounds.h"
#include "observer/outside_wait.h"
#include "system/signals.h"

namespace tarn::tool {
namespace {

constexpr int kTickMs = 100;
constexpr int kTicksToHang = 50, kTicksToHangAtEnd = 5;
constexpr int kHangStatus = 2;

/// In memory that both processes have.
observer::WaitCounts* shared_counts() {
  void* const place =
      mmap(nullptr, sizeof(observer::WaitCounts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  return new (place) observer::WaitCounts;
}

// \why not under a sanitizer: its shadow memory counts as data
void bound_memory() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  rlimit limit{};
  if (getrlimit(RLIMIT_DATA, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, observer::Bounds::most_bytes());
  setrlimit(RLIMIT_DATA, &limit);
#endif
}

void begin_command(pid_t watcher, observer::WaitCounts* counts) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != watcher) _exit(kHangStatus);
  observer::wait_counts = counts;
  bound_memory();
}

/// Whether a command makes no step: it waits outside, always in the same call, and computes nothing.
class Stillness {
 public:
  Stillness(pid_t pid, const observer::WaitCounts& counts) : counts_(counts) {
    if (clock_getcpuclockid(pid, &clock_) != 0) clock_ = CLOCK_MONOTONIC;
  }

  /// \returns for how many looks in a row it has stood still.
  int look() {
    timespec time{};
    clock_gettime(clock_, &time);
    const std::uint64_t ended = counts_.ended.load(), begun = counts_.begun.load();
    const bool is_still =
        begun != ended && ended == ended_ && time.tv_sec == time_.tv_sec && time.tv_nsec == time_.tv_nsec;
    ended_ = ended;
    time_ = time;
    looks_ = is_still ? looks_ + 1 : 0;
    return looks_;
  }
  void forget() { looks_ = 0; }

 private:
  const observer::WaitCounts& counts_;
  clockid_t clock_ = CLOCK_MONOTONIC;
  std::uint64_t ended_ = 0;
  timespec time_{};
  int looks_ = 0;
};

/// The process that watches.
class Watcher {
 public:
  Watcher(pid_t pid, const observer::WaitCounts& counts, SignalWatch& signals)
      : pid_(pid), stillness_(pid, counts), signals_(signals) {}

  int run() {
    while (!has_ended()) {
      wait();
      take_signals();
      if (stillness_.look() >= (ended_by_ ? kTicksToHangAtEnd : kTicksToHang)) return give_up();
    }
    return WIFSIGNALED(status_) ? end_by(WTERMSIG(status_)) : WEXITSTATUS(status_);
  }

 private:
  bool has_ended() { return waitpid(pid_, &status_, WNOHANG) == pid_; }

  void wait() {
    pollfd descriptor{signals_.descriptor(), POLLIN, 0};
    poll(&descriptor, 1, kTickMs);
  }

  /// A signal of the terminal is the command's already.
  void take_signals() {
    while (const std::optional<ReceivedSignal> signal = signals_.next()) {
      if (signal->number == SIGCHLD) continue;
      if (signal->is_from_process) kill(pid_, signal->number);
      if (!ended_by_) stillness_.forget();
      ended_by_ = signal->number;
    }
  }

  int give_up() {
    kill(pid_, SIGKILL);
    std::fprintf(stderr, "tarn: %s: a file system that holds its files does not answer\n",
                 ended_by_ ? "ended" : "what was to be read does not come");
    return ended_by_ ? end_by(*ended_by_) : kHangStatus;
  }

  int end_by(int number) {
    std::fflush(stdout);
    signals_.restore_mask();
    std::signal(number, SIG_DFL);
    raise(number);
    return 128 + number;
  }

  const pid_t pid_;
  Stillness stillness_;
  SignalWatch& signals_;
  std::optional<int> ended_by_;
  int status_ = 0;
};

}  // namespace

int run_guarded(const std::function<int()>& work) {
  observer::WaitCounts* const counts = shared_counts();
  std::optional<SignalWatch> signals(std::in_place);
  const pid_t watcher = getpid(), pid = fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid != 0) return Watcher(pid, *counts, *signals).run();
  signals.reset();
  begin_command(watcher, counts);
  return work();
}

}  // namespace tarn::tool
