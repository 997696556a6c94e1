// An atomic variable over what compilers have (compiler.h), with the members of std::atomic that the library
// uses. \why not std::atomic: g++ 12 reads 24,000 lines for <atomic>, of which a pool needs these.
#pragma once
#include "tarn/detail/api.h"

namespace TARN_NAMESPACE::detail {

/// \tparam T up to 8 bytes. The sources name an order as std::memory_order, the public headers as kRelaxed
/// and the like: the numbers are the same.
template <typename T>
class Atomic {
  static_assert(sizeof(T) <= 8 && __is_trivially_copyable(T));

 public:
  constexpr Atomic() noexcept = default;
  constexpr Atomic(T value) noexcept : value_(value) {}
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

  template <typename Order = int>
  TARN_INLINE T load(Order order = kSeqCst) const noexcept {
    return atomic_load(&value_, static_cast<int>(order));
  }
  template <typename Order = int>
  TARN_INLINE void store(T value, Order order = kSeqCst) noexcept {
    atomic_store(&value_, value, static_cast<int>(order));
  }
  template <typename Order = int>
  TARN_INLINE T exchange(T value, Order order = kSeqCst) noexcept {
    return atomic_exchange(&value_, value, static_cast<int>(order));
  }
  template <typename Order = int>
  TARN_INLINE T fetch_add(T value, Order order = kSeqCst) noexcept {
    return atomic_fetch_add(&value_, value, static_cast<int>(order));
  }
  template <typename Order = int>
  TARN_INLINE T fetch_sub(T value, Order order = kSeqCst) noexcept {
    return atomic_fetch_sub(&value_, value, static_cast<int>(order));
  }
  template <typename Order = int, typename Failed = int>
  TARN_INLINE bool compare_exchange_strong(T& expected, T desired, Order order = kSeqCst,
                                           Failed failed = kSeqCst) noexcept {
    return atomic_compare_exchange<false>(&value_, expected, desired, static_cast<int>(order),
                                          static_cast<int>(failed));
  }
  template <typename Order = int, typename Failed = int>
  TARN_INLINE bool compare_exchange_weak(T& expected, T desired, Order order = kSeqCst,
                                         Failed failed = kSeqCst) noexcept {
    return atomic_compare_exchange<true>(&value_, expected, desired, static_cast<int>(order),
                                         static_cast<int>(failed));
  }

 private:
  alignas(sizeof(T)) T value_{};
};

}  // namespace TARN_NAMESPACE::detail
