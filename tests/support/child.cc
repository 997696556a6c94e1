#include "support/child.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tarn::test {
namespace {

using Clock = std::chrono::steady_clock;

int milliseconds_until(Clock::time_point end) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
  return left < 0 ? 0 : static_cast<int>(left);
}

// Appends what can be read. \returns false at the end of the stream.
bool read_some(int descriptor, std::string& text) {
  char piece[4096];
  const ssize_t count = read(descriptor, piece, sizeof piece);
  if (count > 0) text.append(piece, static_cast<std::size_t>(count));
  return count > 0;
}

void read_until_closed(int output, int error, Clock::time_point end, ChildResult& result) {
  pollfd streams[2] = {{output, POLLIN, 0}, {error, POLLIN, 0}};
  while (streams[0].fd >= 0 || streams[1].fd >= 0) {
    if (poll(streams, 2, milliseconds_until(end)) <= 0) {
      result.has_timed_out = true;
      return;
    }
    if (streams[0].revents != 0 && !read_some(output, result.output)) streams[0].fd = -1;
    if (streams[1].revents != 0 && !read_some(error, result.error)) streams[1].fd = -1;
  }
}

void wait_for(pid_t child, Clock::time_point end, ChildResult& result) {
  int status = 0;
  pid_t ended = 0;
  while (!result.has_timed_out && (ended = waitpid(child, &status, WNOHANG)) == 0) {
    result.has_timed_out = milliseconds_until(end) == 0;
    usleep(1000);
  }
  if (ended == 0) {
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
  }
  if (WIFEXITED(status)) result.exit_status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
}

}  // namespace

std::string ChildResult::describe() const {
  std::string text = "status " + std::to_string(exit_status) + ", signal " + std::to_string(signal);
  if (has_timed_out) text += ", timed out";
  return text + "\noutput: " + output + "\nerror: " + error;
}

ChildResult run_in_child(const std::function<int()>& body, int timeout_seconds) {
  int output[2], error[2];
  ChildResult result;
  if (pipe(output) != 0 || pipe(error) != 0) return result;
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    dup2(output[1], STDOUT_FILENO);
    dup2(error[1], STDERR_FILENO);
    for (const int descriptor : {output[0], output[1], error[0], error[1]}) close(descriptor);
    const int status = body();
    std::fflush(nullptr);
    _exit(status);
  }
  close(output[1]);
  close(error[1]);
  const Clock::time_point end = Clock::now() + std::chrono::seconds(timeout_seconds);
  read_until_closed(output[0], error[0], end, result);
  wait_for(child, end, result);
  close(output[0]);
  close(error[0]);
  return result;
}

ChildResult run_program(const std::vector<std::string>& arguments,
                        const std::vector<std::string>& environment, int timeout_seconds) {
  return run_in_child(
      [&] {
        for (const std::string& entry : environment) putenv(strdup(entry.c_str()));
        std::vector<char*> words;
        for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
        words.push_back(nullptr);
        execvp(words[0], words.data());
        std::perror(words[0]);
        return 127;
      },
      timeout_seconds);
}

}  // namespace tarn::test
