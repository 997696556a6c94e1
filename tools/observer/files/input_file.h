// A file that is read at offsets: a dump, /proc/PID/mem, or a text of the kernel's.
//
// It is never mapped: a mapped file that gets shorter, or whose disk fails, ends the reader with SIGBUS; a
// read of it comes back short.
// Threads: read() from any thread at once.
#pragma once
#include <fcntl.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "observer/files/descriptor.h"

namespace tarn::observer {

class InputFile {
 public:
  InputFile() = default;  // none
  /// Opens for reading; is_open() tells whether that worked, errno why not. A relative path starts at
  /// `directory`.
  explicit InputFile(const std::string& path, int flags = 0, int directory = AT_FDCWD);
  /// Takes a descriptor over, which may be none.
  explicit InputFile(int descriptor) : descriptor_(descriptor) {}

  bool is_open() const { return descriptor_.is_open(); }
  int descriptor() const { return descriptor_.get(); }
  InputFile duplicate() const;
  /// Leaves the descriptor to the caller.
  int release() { return descriptor_.release(); }
  /// Bytes of a regular file, 0 of any other.
  std::uint64_t bytes() const;

  /// \returns how many bytes there were, at most those asked for.
  std::size_t read(std::uint64_t offset, void* into, std::size_t bytes) const;
  bool read_all(std::uint64_t offset, void* into, std::size_t bytes) const {
    return read(offset, into, bytes) == bytes;
  }

 private:
  Descriptor descriptor_;
};

/// Opens a file only if it is a regular one. \why to open a pipe waits, and a device may do something then.
InputFile open_regular_file(const std::string& path);
/// The same of a place that was opened with O_PATH, or was not.
InputFile open_regular_place(const InputFile& place);

}  // namespace tarn::observer
