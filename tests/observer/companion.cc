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

// The child's part.
[[noreturn]] void rest(const std::function<std::uint64_t()>& prepare, int command, int answer) {
  const std::uint64_t value = prepare();
  require(write(answer, &value, sizeof value) == sizeof value);
  char program[256] = {};
  if (read(command, program, sizeof program - 1) <= 0) _exit(0);
  dup2(command, STDIN_FILENO);
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
  command_ = command[1], running_ = answer[0];
  require(read(running_, &answer_, sizeof answer_) == sizeof answer_);
}

Companion::~Companion() {
  if (pid_ != 0) {
    end();
    reap();
  }
  close(command_);
  close(running_);
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

void Companion::run(const char* program) {
  const std::string path = program;
  require(write(command_, path.data(), path.size()) == static_cast<ssize_t>(path.size()));
  char byte;
  require(read(running_, &byte, 1) == 0);
}

}  // namespace tarn::test
