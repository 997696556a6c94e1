// The memory of a running process, to be written: the words by which a tool switches what its library does.
//
// Threads: one at a time.
#pragma once
#include <cstddef>

#include "source.h"

namespace tarn::observer {

class WritableMemory {
 public:
  /// \throws ObserveError when the right is missing.
  explicit WritableMemory(int pid);
  ~WritableMemory();
  WritableMemory(const WritableMemory&) = delete;
  WritableMemory& operator=(const WritableMemory&) = delete;

  /// \throws ObserveError when the process has ended.
  void write(Address address, const void* bytes, std::size_t count) const;

 private:
  const int pid_, memory_;
};

}  // namespace tarn::observer
