// An atomic variable over the compiler's builtins, with the members of std::atomic that the library uses.
// \why not std::atomic: g++ 12 reads 24,000 lines for <atomic>, of which a pool needs these.
#pragma once
#include "tarn/detail/api.h"

namespace TARN_NAMESPACE::detail {

/// \tparam T up to 8 bytes. The sources name an order as std::memory_order, the public headers as __ATOMIC_…:
/// the numbers are the same.
template <typename T>
class Atomic {
  static_assert(sizeof(T) <= 8 && __is_trivially_copyable(T));

 public:
  constexpr Atomic() noexcept = default;
  constexpr Atomic(T value) noexcept : value_(value) {}
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

  template <typename Order = int>
  TARN_INLINE T load(Order order = __ATOMIC_SEQ_CST) const noexcept {
    T value;
    __atomic_load(&value_, &value, static_cast<int>(order));
    return value;
  }
  template <typename Order = int>
  TARN_INLINE void store(T value, Order order = __ATOMIC_SEQ_CST) noexcept {
    __atomic_store(&value_, &value, static_cast<int>(order));
  }
  template <typename Order = int>
  TARN_INLINE T exchange(T value, Order order = __ATOMIC_SEQ_CST) noexcept {
    T before;
    __atomic_exchange(&value_, &value, &before, static_cast<int>(order));
    return before;
  }
  template <typename Order = int>
  TARN_INLINE T fetch_add(T value, Order order = __ATOMIC_SEQ_CST) noexcept {
    return __atomic_fetch_add(&value_, value, static_cast<int>(order));
  }
  template <typename Order = int>
  TARN_INLINE T fetch_sub(T value, Order order = __ATOMIC_SEQ_CST) noexcept {
    return __atomic_fetch_sub(&value_, value, static_cast<int>(order));
  }
  template <typename Order = int, typename Failed = int>
  TARN_INLINE bool compare_exchange_strong(T& expected, T desired, Order order = __ATOMIC_SEQ_CST,
                                           Failed failed = __ATOMIC_SEQ_CST) noexcept {
    return __atomic_compare_exchange(&value_, &expected, &desired, false, static_cast<int>(order),
                                     static_cast<int>(failed));
  }
  template <typename Order = int, typename Failed = int>
  TARN_INLINE bool compare_exchange_weak(T& expected, T desired, Order order = __ATOMIC_SEQ_CST,
                                         Failed failed = __ATOMIC_SEQ_CST) noexcept {
    return __atomic_compare_exchange(&value_, &expected, &desired, true, static_cast<int>(order),
                                     static_cast<int>(failed));
  }

 private:
  alignas(sizeof(T)) T value_{};
};

}  // namespace TARN_NAMESPACE::detail
