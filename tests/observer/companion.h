// A forked child that gets ready and rests until it is told to end: a process to be looked at.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

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
  /// Has it run another program, which answers what it is sent with a byte, as cat does. \returns whether it
  /// has answered; false: the system cannot run it.
  bool run(const std::string& program);

 private:
  pid_t pid_ = 0;
  int command_ = -1;  // to what the child waits on
  int answers_ = -1;
  std::uint64_t answer_ = 0;
};

}  // namespace tarn::test
