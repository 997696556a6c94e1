#include "profile/run/run_to_end.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>

#include "commands/commands.h"
#include "profile/run/traced_family.h"
#include "system/figures/clock.h"
#include "system/processes/guard.h"
#include "system/processes/signals.h"
#include "system/runs/child_process.h"

namespace tarn::tool {
namespace {

constexpr double kSecondsForTheRest = 5;
constexpr int kTickMs = 100;

/// \param go_on is closed when the tracer is ready.
[[noreturn]] void become(const std::vector<std::string>& command, Environment environment,
                         const RunHooks& hooks, const SignalWatch& signals, int go_on) {
  if (hooks.before_exec) hooks.before_exec(environment, getpid());
  const std::vector<char*> arguments = pointers_to(command), entries = pointers_to(environment.entries());
  signals.restore_mask();
  restore_memory_limit();
  char nothing;
  while (read(go_on, &nothing, 1) < 0 && errno == EINTR) {
  }
  execvpe(arguments[0], arguments.data(), entries.data());
  fmt::print(stderr, "tarn: cannot run {}: {}\n", command.front(), std::strerror(errno));
  _exit(kNotFoundStatus);
}

/// How long what is left may take, once the first process has ended.
class Patience {
 public:
  explicit Patience(const TracedFamily& family) : family_(family) {}

  bool is_over() {
    if (!family_.has_first_ended()) return false;
    if (!has_begun_) began_ = now();
    has_begun_ = true;
    const double waited = seconds_since(began_);
    if (waited > 1 && !has_told_) {
      fmt::print(stderr, "tarn: {} process{} that it started still run{}: {} s for them to end, or Ctrl-C\n",
                 family_.count(), family_.count() == 1 ? "" : "es", family_.count() == 1 ? "s" : "",
                 kSecondsForTheRest);
      has_told_ = true;
    }
    return waited > kSecondsForTheRest;
  }

 private:
  const TracedFamily& family_;
  timespec began_ = {};
  bool has_begun_ = false, has_told_ = false;
};

/// \returns whether one came that ends the wait for what the program left running.
bool pass_signals_on(SignalWatch& signals, pid_t first, bool has_first_ended) {
  bool is_end = false;
  while (const std::optional<ReceivedSignal> signal = signals.next()) {
    if (signal->number == SIGCHLD) continue;
    if (has_first_ended)
      is_end = true;
    else if (signal->is_from_process)
      kill(first, signal->number);
  }
  return is_end;
}

/// While it exists, signals end this tool as if it took none: to look into a process may take long.
class SignalsThatEnd {
 public:
  explicit SignalsThatEnd(const SignalWatch& signals) {
    sigprocmask(SIG_BLOCK, nullptr, &before_);
    signals.restore_mask();
  }
  ~SignalsThatEnd() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  SignalsThatEnd(const SignalsThatEnd&) = delete;
  SignalsThatEnd& operator=(const SignalsThatEnd&) = delete;

 private:
  sigset_t before_;
};

RunToEnd follow(TracedFamily& family, SignalWatch& signals, pid_t first, const RunHooks& hooks) {
  Patience patience(family);
  for (bool is_over = false; !is_over;) {
    int status = 0;
    for (pid_t thread; (thread = waitpid(-1, &status, __WALL | WNOHANG)) > 0;) family.note(thread, status);
    if (family.has_ended()) return family.result();
    const int wait_ms = hooks.tick ? hooks.tick() : kTickMs;
    pollfd descriptor{signals.descriptor(), POLLIN, 0};
    poll(&descriptor, 1, std::min(wait_ms, kTickMs));
    is_over = pass_signals_on(signals, first, family.has_first_ended()) || patience.is_over();
  }
  family.look_at_the_rest();
  return family.result();
}

/// A program that cannot be traced runs all the same.
RunToEnd wait_for(pid_t first, SignalWatch& signals, const std::string& name, int error) {
  RunToEnd run;
  run.unseen.push_back({{first, name}, fmt::format("it cannot be traced: {}", std::strerror(error))});
  while (waitpid(first, &run.status, WNOHANG) == 0) {
    pollfd descriptor{signals.descriptor(), POLLIN, 0};
    poll(&descriptor, 1, -1);
    pass_signals_on(signals, first, false);
  }
  return run;
}

}  // namespace

int RunToEnd::exit_status() const {
  return WIFSIGNALED(status) ? kSignalStatus + WTERMSIG(status) : WEXITSTATUS(status);
}

RunToEnd run_to_end(const std::vector<std::string>& command, const Environment& environment,
                    const ReadAtEnd& at_end, const RunHooks& hooks) {
  SignalWatch signals;
  int go_on[2];
  if (pipe2(go_on, O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
  const pid_t first = fork();
  if (first < 0) throw std::runtime_error(fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (first == 0) {
    close(go_on[1]);
    become(command, environment, hooks, signals, go_on[0]);
  }
  std::optional<TracedFamily> family;
  const ReadAtEnd look = [&](observer::Source& source, const TracedProcess& process, const auto& words) {
    pass_signals_on(signals, first, family->has_first_ended());  // what came before was for the program
    const SignalsThatEnd end(signals);
    at_end(source, process, words);
  };
  family.emplace(look, hooks);
  const bool is_traced = family->begin(first);
  const int error = errno;
  close(go_on[0]);
  close(go_on[1]);
  return is_traced ? follow(*family, signals, first, hooks)
                   : wait_for(first, signals, command.front(), error);
}

}  // namespace tarn::tool
