// Numbers that others read at any moment, in no order with anything else.
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

/// Raises a peak to what it was at least. \threads any
template <typename T>
void raise_peak(std::atomic<T>& peak, T now) {
  T seen = peak.load(std::memory_order_relaxed);
  while (seen < now && !peak.compare_exchange_weak(seen, now, std::memory_order_relaxed)) {
  }
}

}  // namespace tarn::internal
