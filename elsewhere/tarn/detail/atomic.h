// As the library's own detail/atomic.h, over std::atomic: each access is sequentially consistent.
#pragma once
#include <atomic>

#include "tarn/detail/api.h"

namespace TARN_NAMESPACE::detail {

template <typename T>
class Atomic {
 public:
  constexpr Atomic() noexcept = default;
  constexpr Atomic(T value) noexcept : value_(value) {}

  T load(int = 0) const noexcept { return value_.load(); }
  void store(T value, int = 0) noexcept { value_.store(value); }
  T exchange(T value, int = 0) noexcept { return value_.exchange(value); }
  T fetch_add(T value, int = 0) noexcept { return value_.fetch_add(value); }
  T fetch_sub(T value, int = 0) noexcept { return value_.fetch_sub(value); }

 private:
  std::atomic<T> value_{};
};

}  // namespace TARN_NAMESPACE::detail
