// Fork, exec and what is reported in between; ending of descendants.
#include "system/runs/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <system_error>

#include "system/figures/clock.h"
#include "system/processes/guard.h"

namespace tarn::tool {
namespace {

struct Pipe {
  Descriptor read_end, write_end;
};

Pipe make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

Pipe make_output_pipe() {
  Pipe pipe = make_pipe();
  fcntl(pipe.read_end.get(), F_SETFL, O_NONBLOCK);
  fcntl(pipe.write_end.get(), F_SETPIPE_SZ, kOutputPipeBytes);
  return pipe;
}

void redirect_streams(const RunRequest& request, const Pipe& output, const Pipe& errors) {
  setsid();
  if (!request.directory.empty() && chdir(request.directory.c_str()) != 0) _exit(126);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // should the tool itself be killed
  const int input = open(request.stdin_path.c_str(), O_RDONLY);
  if (input >= 0) dup2(input, STDIN_FILENO);
  if (input > STDERR_FILENO) close(input);
  dup2(output.write_end.get(), STDOUT_FILENO);
  dup2(errors.write_end.get(), STDERR_FILENO);
}

/// The child's side: nothing here may allocate, and nothing but exec or _exit ends it.
[[noreturn]] void become_program(char* const* arguments, char* const* environment, int report) {
  StartReport start = {};
  getrusage(RUSAGE_SELF, &start.usage);
  start.clock = now();
  if (write(report, &start, sizeof(start)) == static_cast<ssize_t>(sizeof(start))) {
    execvpe(arguments[0], arguments, environment);
    const int error = errno;
    if (write(report, &error, sizeof(error)) < 0) _exit(126);
  }
  _exit(127);
}

/// Reads what the child reports until exec closes the pipe.
void read_start_report(int report, StartedChild& child) {
  if (read(report, &child.start, sizeof(child.start)) != static_cast<ssize_t>(sizeof(child.start)))
    throw std::runtime_error("the child process ended before it could start the program");
  ssize_t count;
  do {
    count = read(report, &child.exec_error, sizeof(child.exec_error));
  } while (count < 0 && errno == EINTR);
}

double seconds(const timeval& value) {
  return static_cast<double>(value.tv_sec) + 1e-6 * static_cast<double>(value.tv_usec);
}

}  // namespace

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

StartedChild start_child(const RunRequest& request, const SignalWatch& signals) {
  const bool is_captured = request.streams == Streams::kCaptured;
  Pipe report = make_pipe();
  Pipe output = is_captured ? make_output_pipe() : Pipe{};
  Pipe errors = is_captured ? make_output_pipe() : Pipe{};
  const std::vector<char*> arguments = pointers_to(request.command);
  const std::vector<char*> environment = pointers_to(request.environment);

  StartedChild child;
  child.pid = fork();
  if (child.pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child.pid == 0) {
    if (is_captured) redirect_streams(request, output, errors);
    signals.restore_mask();
    restore_memory_limit();
    become_program(arguments.data(), environment.data(), report.write_end.get());
  }
  report.write_end.reset();
  read_start_report(report.read_end.get(), child);
  child.output = std::move(output.read_end);
  child.errors = std::move(errors.read_end);
  return child;
}

void end_descendants() {
  constexpr int kMostTries = 2000;  // of a millisecond
  for (int tries = 0; tries < kMostTries; ++tries) {
    const pid_t reaped = waitpid(-1, nullptr, WNOHANG);
    if (reaped < 0) return;  // none left
    if (reaped > 0) continue;
    std::ifstream children("/proc/thread-self/children");
    for (pid_t pid = 0; children >> pid;) kill(pid, SIGKILL);
    usleep(1000);
  }
}

Measurement cost_between(const StartReport& start, const timespec& end, const rusage& usage) {
  return {.wall_seconds = seconds_between(start.clock, end),
          .user_seconds = seconds(usage.ru_utime) - seconds(start.usage.ru_utime),
          .system_seconds = seconds(usage.ru_stime) - seconds(start.usage.ru_stime),
          .peak_rss_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024,
          .minor_faults = static_cast<std::uint64_t>(usage.ru_minflt - start.usage.ru_minflt),
          .major_faults = static_cast<std::uint64_t>(usage.ru_majflt - start.usage.ru_majflt)};
}

}  // namespace tarn::tool
