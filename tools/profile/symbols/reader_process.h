// A process of its own for reading what may be hostile, with an end: whatever a library does with such files
// ends that process and not the tool, and whatever it waits for, it is waited for only so long.
//
// Threads: one at a time; another one holds nothing that work() needs when a reader is started.
#pragma once
#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "observer/files/descriptor.h"

namespace tarn::profile {

class ReaderProcess {
 public:
  /// Starts a process that calls work(write) and ends. write() sends a line, which has no end of line in it.
  explicit ReaderProcess(const std::function<void(const std::function<void(const std::string&)>&)>& work);
  ~ReaderProcess();
  ReaderProcess(const ReaderProcess&) = delete;
  ReaderProcess& operator=(const ReaderProcess&) = delete;

  /// \returns the next line; nothing when the process has ended, has sent none for `seconds`, has sent too
  /// much, or when a signal wants the tool to end.
  std::optional<std::string> next_line(double seconds);

 private:
  std::optional<std::string> take_line();

  pid_t pid_ = -1;
  observer::Descriptor output_;
  std::string read_;
  std::size_t taken_ = 0;
};

}  // namespace tarn::profile
