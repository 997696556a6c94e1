// A forked child that gets ready and rests until it is told to end: a process to be looked at.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <functional>

namespace tarn::test {

class Companion {
 public:
  /// Returns when the child has run `prepare`; what that returns is answer(). The child ends with its parent.
  explicit Companion(const std::function<std::uint64_t()>& prepare = [] { return 0; });
  Companion(const Companion&) = delete;
  Companion& operator=(const Companion&) = delete;
  ~Companion();

  pid_t pid() const { return pid_; }
  std::uint64_t answer() const { return answer_; }
  /// Ends it, so that it is a zombie.
  void end();
  /// And takes the zombie away.
  void reap();
  /// Has it run another program, and returns when it does. That one reads its standard input until it ends.
  void run(const char* program);

 private:
  pid_t pid_ = 0;
  int command_ = -1;  // what the child waits on
  int running_ = -1;  // closed by the kernel when the child runs another program
  std::uint64_t answer_ = 0;
};

}  // namespace tarn::test
