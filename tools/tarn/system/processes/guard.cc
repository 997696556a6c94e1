#include "system/processes/guard.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <new>
#include <optional>
#include <string>
#include <system_error>

#include "observer/files/kernel_text.h"
#include "observer/files/outside_wait.h"
#include "observer/records/bounds.h"
#include "system/processes/signals.h"

namespace tarn::tool {
namespace {

constexpr int kWatchMs = 100;
constexpr int kTicksToHang = 50, kTicksToHangAtEnd = 5;
constexpr int kHangStatus = 2;

/// In memory that both processes have.
observer::Waits* shared_waits() {
  void* const place =
      mmap(nullptr, sizeof(observer::Waits), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  return new (place) observer::Waits;
}

std::optional<rlimit> memory_before;

// \why not under a sanitizer: its shadow memory counts as data
void bound_memory() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  rlimit limit{};
  if (getrlimit(RLIMIT_DATA, &limit) != 0) return;
  memory_before = limit;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, observer::Bounds::most_bytes());
  setrlimit(RLIMIT_DATA, &limit);
#endif
}

void begin_command(pid_t watcher, observer::Waits* waits) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != watcher) _exit(kHangStatus);
  observer::waits = waits;
  bound_memory();
}

/// For how many looks in a row a thread of the command has waited for the same, and computed nothing.
class Stillness {
 public:
  Stillness(pid_t pid, const observer::Waits& waits) : pid_(pid), waits_(waits) {}

  /// \returns the longest of all threads.
  int look() {
    int longest = 0;
    for (std::size_t i = 0; i < observer::Waits::kPlaces; ++i)
      longest = std::max(longest, look_at(waits_.of_threads[i], seen_[i]));
    return longest;
  }
  void forget() {
    for (Seen& seen : seen_) seen.looks = 0;
  }

 private:
  struct Seen {
    std::uint64_t number = 0;
    std::string time;
    int looks = 0;
  };

  int look_at(const observer::Wait& wait, Seen& seen) const {
    const std::uint64_t number = wait.number.load();
    if (number == 0 || number != seen.number) return seen = {number, {}, 0}, 0;
    std::string time = time_of(wait.thread.load());
    seen.looks = time == seen.time ? seen.looks + 1 : 0;
    seen.time = std::move(time);
    return seen.looks;
  }

  /// The time of the processor that a thread has used, as the kernel writes it.
  std::string time_of(int thread) const {
    return observer::process_text(pid_, fmt::format("task/{}/schedstat", thread));
  }

  const pid_t pid_;
  const observer::Waits& waits_;
  std::array<Seen, observer::Waits::kPlaces> seen_;
};

/// The process that watches.
class Watcher {
 public:
  Watcher(pid_t pid, const observer::Waits& waits, SignalWatch& signals)
      : pid_(pid), stillness_(pid, waits), signals_(signals) {}

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
    poll(&descriptor, 1, kWatchMs);
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
  observer::Waits* const waits = shared_waits();
  std::optional<SignalWatch> signals(std::in_place);
  const pid_t watcher = getpid(), pid = fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid != 0) return Watcher(pid, *waits, *signals).run();
  signals.reset();
  begin_command(watcher, waits);
  return work();
}

void restore_memory_limit() {
  if (memory_before) setrlimit(RLIMIT_DATA, &*memory_before);
}

}  // namespace tarn::tool
