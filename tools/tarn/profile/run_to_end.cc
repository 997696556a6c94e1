#include "profile/run_to_end.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

#include "system/signals.h"

namespace tarn::tool {
namespace {

constexpr int kNotFoundStatus = 127;

[[noreturn]] void become(const std::vector<std::string>& command, Environment environment,
                         const RunHooks& hooks, const SignalWatch& signals) {
  if (hooks.before_exec) hooks.before_exec(environment, getpid());
  std::vector<char*> arguments, entries;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  for (const std::string& entry : environment.entries()) entries.push_back(const_cast<char*>(entry.c_str()));
  arguments.push_back(nullptr);
  entries.push_back(nullptr);
  signals.restore_mask();
  ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  execvpe(arguments[0], arguments.data(), entries.data());
  fmt::print(stderr, "tarn: cannot run {}: {}\n", command.front(), std::strerror(errno));
  _exit(kNotFoundStatus);
}

/// The tracer's side of one program.
class Traced {
 public:
  Traced(pid_t pid, const std::function<void(observer::Source&)>& at_end) : pid_(pid), at_end_(at_end) {}

  /// \returns whether the program has ended.
  bool note(int status) {
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
      run_.status = status;
      return true;
    }
    go_on(signal_to_deliver(status));
    return false;
  }

  RunToEnd& result() { return run_; }

 private:
  // \returns 0 where the stop was for the tracer alone.
  int signal_to_deliver(int status) {
    const int signal = WSTOPSIG(status), event = status >> 16;
    if (event == PTRACE_EVENT_EXIT) {
      read();
      return 0;
    }
    if (event != 0) return 0;
    if (signal == SIGTRAP && !is_set_up_) {  // behind exec
      is_set_up_ = ptrace(PTRACE_SETOPTIONS, pid_, nullptr, PTRACE_O_TRACEEXIT | PTRACE_O_TRACEEXEC) == 0;
      if (!is_set_up_) run_.obstacle = fmt::format("it cannot be traced: {}", std::strerror(errno));
      return 0;
    }
    return signal;
  }

  void go_on(int signal) { ptrace(PTRACE_CONT, pid_, nullptr, static_cast<long>(signal)); }

  void read() {
    try {
      const std::unique_ptr<observer::Source> source = observer::open_process(pid_);
      at_end_(*source);
      run_.was_read = true;
      run_.obstacle.clear();
    } catch (const std::exception& error) {
      run_.obstacle = error.what();
    }
  }

  const pid_t pid_;
  const std::function<void(observer::Source&)>& at_end_;
  bool is_set_up_ = false;
  RunToEnd run_;
};

}  // namespace

RunToEnd run_to_end(const std::vector<std::string>& command, const Environment& environment,
                    const std::function<void(observer::Source& source)>& at_end, const RunHooks& hooks) {
  SignalWatch signals;
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error(fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (pid == 0) become(command, environment, hooks, signals);
  Traced traced(pid, at_end);
  traced.result().obstacle = "it ended before its program began";
  for (;;) {
    int status = 0;
    while (waitpid(pid, &status, WNOHANG) == pid)
      if (traced.note(status)) return traced.result();
    const int wait_ms = hooks.tick ? hooks.tick(pid) : -1;
    pollfd descriptor{signals.descriptor(), POLLIN, 0};
    poll(&descriptor, 1, wait_ms);
    while (const std::optional<ReceivedSignal> signal = signals.next())
      if (signal->number != SIGCHLD && signal->is_from_process) kill(pid, signal->number);
  }
}

}  // namespace tarn::tool
