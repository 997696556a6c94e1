#include "observer/companion.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

namespace tarn::test {
namespace {

void require(bool is_done) {
  if (!is_done) std::abort();
}

constexpr std::size_t kPathBytes = 512;  // less than a pipe takes at once

// The child's part.
[[noreturn]] void rest(const std::function<std::uint64_t()>& prepare, int command, int answer) {
  const std::uint64_t value = prepare();
  require(write(answer, &value, sizeof value) == sizeof value);
  char program[kPathBytes] = {};
  if (read(command, program, sizeof program) != sizeof program) _exit(0);
  dup2(command, STDIN_FILENO);
  dup2(answer, STDOUT_FILENO);
  execl(program, program, nullptr);
  _exit(127);
}

}  // namespace

Companion::Companion(const std::function<std::uint64_t()>& prepare) {
  int command[2], answer[2];
  require(pipe2(command, O_CLOEXEC) == 0 && pipe2(answer, O_CLOEXEC) == 0);
  pid_ = fork();
  require(pid_ >= 0);
  if (pid_ == 0) {
    close(command[1]);
    close(answer[0]);
    rest(prepare, command[0], answer[1]);
  }
  close(command[0]);
  close(answer[1]);
  command_ = command[1], answers_ = answer[0];
  require(read(answers_, &answer_, sizeof answer_) == sizeof answer_);
}

Companion::~Companion() {
  if (pid_ != 0) {
    end();
    reap();
  }
  close(command_);
  close(answers_);
}

void Companion::end() {
  kill(pid_, SIGKILL);
  siginfo_t information;
  waitid(P_PID, static_cast<id_t>(pid_), &information, WEXITED | WNOWAIT);
}

void Companion::reap() {
  waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

bool Companion::run(const std::string& program) {
  std::string message = program;
  message.resize(kPathBytes);
  message += 'x';  // for the program
  require(write(command_, message.data(), message.size()) == static_cast<ssize_t>(message.size()));
  char byte;
  return read(answers_, &byte, 1) == 1;
}

}  // namespace tarn::test
