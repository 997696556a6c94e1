// The signals that end the tool, taken as data instead of by handlers: they are blocked and read from a
// descriptor that the runner waits on beside the program's output. A child gets the mask back that the tool
// was started with.
//
// A signal that was ignored when the tool started (nohup, a shell's background job) stays ignored.
#pragma once
#include <signal.h>

#include <optional>

namespace tarn::tool {

/// Thrown where a signal ends what cannot give a part of its result.
struct Interrupted {
  int signal_number;
};

struct ReceivedSignal {
  int number;
  bool is_from_process;  // false: the terminal sent it, and the whole foreground group has it already
};

class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  /// Readable when next() has something: a watched signal, or that a child changed (SIGCHLD).
  int descriptor() const { return descriptor_; }
  /// The next signal without waiting; nothing if none is pending.
  std::optional<ReceivedSignal> next();
  /// Whether one has come that ends the tool. Takes all that have come.
  bool wants_end();
  /// For a child between fork and exec.
  void restore_mask() const;

 private:
  sigset_t original_mask_;
  int descriptor_;
  bool wants_end_ = false;
};

}  // namespace tarn::tool
