// Counted bytes, and a queue of them, for the policies that have no library for either: a shared_ptr to
// characters, and a vector that is read from its front.
#pragma once
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace game {

/// Threads: each handle is for one thread at a time; handles of the same bytes may be in different threads.
class CountedBytes {
 public:
  CountedBytes() = default;
  CountedBytes(std::shared_ptr<char[]> bytes, std::size_t size)
      : bytes_(std::move(bytes)), size_(static_cast<std::uint32_t>(size)) {}

  char* data() const { return bytes_.get(); }
  std::size_t size() const { return size_; }
  explicit operator bool() const { return bytes_ != nullptr; }
  void reset() { bytes_.reset(), size_ = 0; }

 private:
  std::shared_ptr<char[]> bytes_;
  std::uint32_t size_ = 0;
};

/// Invariant: bytes() is the sum of the queued sizes minus what was consumed of the first.
class CountedBytesQueue {
 public:
  void append(CountedBytes bytes) {
    bytes_ += bytes.size();
    queue_.push_back(std::move(bytes));
  }
  std::size_t bytes() const { return bytes_; }
  bool is_empty() const { return first_ == queue_.size(); }

  std::size_t fill_iovecs(iovec* entries, std::size_t most) const {
    std::size_t count = 0;
    std::size_t skipped = consumed_;
    for (std::size_t i = first_; i < queue_.size() && count < most; ++i) {
      entries[count++] = {queue_[i].data() + skipped, queue_[i].size() - skipped};
      skipped = 0;
    }
    return count;
  }

  void consume(std::size_t count) {
    bytes_ -= count;
    count += consumed_;
    while (first_ < queue_.size() && count >= queue_[first_].size()) {
      count -= queue_[first_].size();
      queue_[first_++].reset();
    }
    consumed_ = count;
    if (is_empty()) return forget();
    if (first_ < kMostEnded) return;
    queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }

  void clear() {
    bytes_ = consumed_ = 0;
    forget();
  }

 private:
  static constexpr std::size_t kMostEnded = 256;

  void forget() {
    queue_.clear();
    first_ = 0;
  }

  std::vector<CountedBytes> queue_;
  std::size_t first_ = 0;  // those before it have been sent
  std::size_t consumed_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace game
