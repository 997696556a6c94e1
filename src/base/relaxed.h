// A number that one thread at a time changes, under a lock, and that others read at any moment.
#pragma once
#include <atomic>

namespace tarn::internal {

/// Threads: changes under a lock, or such that a lost one does no harm; reads by any. Zeroed memory is zero.
template <typename T>
class Relaxed {
 public:
  constexpr Relaxed() = default;
  constexpr explicit Relaxed(T value) : value_(value) {}
  Relaxed& operator=(T value) {
    value_.store(value, std::memory_order_relaxed);
    return *this;
  }
  operator T() const { return value_.load(std::memory_order_relaxed); }
  Relaxed& operator+=(T more) { return *this = static_cast<T>(*this + more); }
  Relaxed& operator-=(T less) { return *this = static_cast<T>(*this - less); }
  Relaxed& operator++() { return *this += 1; }
  Relaxed& operator--() { return *this -= 1; }

 private:
  std::atomic<T> value_{};
};

}  // namespace tarn::internal
