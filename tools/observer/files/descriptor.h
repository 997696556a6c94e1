// The number of a file, pipe or socket that is open, and how all of something is written there.
#pragma once
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

namespace tarn::observer {

/// Closed when it goes out of scope.
class Descriptor {
 public:
  Descriptor() = default;  // none
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  /// Leaves it to the caller.
  int release() { return std::exchange(number_, -1); }
  void reset() {
    if (is_open()) close(release());
  }

 private:
  int number_ = -1;
};

/// \returns whether all could be written; errno says why not.
inline bool write_all(int descriptor, std::string_view left) {
  while (!left.empty()) {
    const ssize_t written = write(descriptor, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace tarn::observer
