// Starts a program and prints one JSON line about it: wall and CPU time, peak resident memory, page faults,
// exit.
//
//   launch [--preload LIBRARY] [--output FILE] [--input FILE] -- PROGRAM ARGUMENTS...
//
// Why a program of its own: the peak of a new process begins with that of the process it was spawned from, so
// a Python driver would show its own 15 MiB for `true`. This one is small and linked statically; it is never
// preloaded itself. Memory and faults are those wait4 gives: of the program and the children it has waited
// for, the peak being the largest single one.
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

struct Request {
  const char* preload = nullptr;
  const char* input = "/dev/null";
  const char* output = "/dev/null";
  char** program = nullptr;
};

[[noreturn]] void usage() {
  std::fputs("usage: launch [--preload LIBRARY] [--output FILE] [--input FILE] -- PROGRAM ARGUMENTS...\n",
             stderr);
  std::exit(2);
}

Request parse(int count, char** arguments) {
  Request request;
  for (int i = 1; i + 1 < count; i += 2) {
    if (std::strcmp(arguments[i], "--") == 0) {
      request.program = arguments + i + 1;
      return request;
    }
    const char* const value = arguments[i + 1];
    if (std::strcmp(arguments[i], "--preload") == 0)
      request.preload = value;
    else if (std::strcmp(arguments[i], "--output") == 0)
      request.output = value;
    else if (std::strcmp(arguments[i], "--input") == 0)
      request.input = value;
    else
      usage();
  }
  usage();
}

double now_ms() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double milliseconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
}

/// Starts the program with its standard input and output; -1 when that failed, with a message.
pid_t spawn(const Request& request) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, request.input, O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, request.output, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  pid_t child = -1;
  const int error = posix_spawnp(&child, request.program[0], &files, nullptr, request.program, environ);
  posix_spawn_file_actions_destroy(&files);
  if (error == 0) return child;
  std::fprintf(stderr, "launch: %s: %s\n", request.program[0], std::strerror(error));
  return -1;
}

void print_usage_of_child(double wall_ms, int status, const rusage& used) {
  std::printf(
      "{\"wall_ms\":%.3f,\"cpu_ms\":%.3f,\"peak_rss_kib\":%ld,\"minor_faults\":%ld,\"major_faults\":%ld,"
      "\"exit_status\":%d,\"signal\":%d}\n",
      wall_ms, milliseconds(used.ru_utime) + milliseconds(used.ru_stime), used.ru_maxrss, used.ru_minflt,
      used.ru_majflt, WIFEXITED(status) ? WEXITSTATUS(status) : 0,
      WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

}  // namespace

int main(int count, char** arguments) {
  const Request request = parse(count, arguments);
  if (request.preload != nullptr) setenv("LD_PRELOAD", request.preload, 1);
  const double first_ms = now_ms();
  const pid_t child = spawn(request);
  if (child < 0) return 1;
  int status = 0;
  rusage used{};
  if (wait4(child, &status, 0, &used) != child) return 1;
  print_usage_of_child(now_ms() - first_ms, status, used);
  return 0;
}
