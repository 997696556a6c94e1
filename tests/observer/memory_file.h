// A file that lies in memory and has a path while it exists.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <string_view>

namespace tarn::test {

class MemoryFile {
 public:
  explicit MemoryFile(std::string_view content) : descriptor_(memfd_create("test", MFD_CLOEXEC)) {
    write(content);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { close(descriptor_); }

  /// Puts it in the place of what the file held.
  void write(std::string_view content) {
    is_written_ = ftruncate(descriptor_, 0) == 0 && pwrite(descriptor_, content.data(), content.size(), 0) ==
                                                        static_cast<ssize_t>(content.size());
  }
  bool is_written() const { return is_written_; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
  bool is_written_ = false;
};

}  // namespace tarn::test
