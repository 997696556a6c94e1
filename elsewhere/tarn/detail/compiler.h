// As the library's own detail/compiler.h, elsewhere (docs/elsewhere.md), in words that each compiler knows.
#pragma once
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "tarn/detail/abi.h"

#define TARN_NOINLINE
#define TARN_COLD
#define TARN_NO_UNIQUE_ADDRESS [[no_unique_address]]
#define TARN_KEEP_APART(a, b, c, d) static_cast<void>(0)

namespace TARN_NAMESPACE::detail {

inline constexpr int kRelaxed = 0, kAcquire = 2, kRelease = 3, kAcqRel = 4, kSeqCst = 5;

template <typename T>
decltype(auto) as_atomic(T* at) {
#if defined(__cpp_lib_atomic_ref)
  return std::atomic_ref<T>(*at);
#else  // libc++ before 19
  return reinterpret_cast<std::atomic<T>&>(*at);
#endif
}
template <typename T>
T atomic_load(T* at, int) {
  return as_atomic(at).load();
}
template <typename T>
void atomic_store(T* at, T value, int) {
  as_atomic(at).store(value);
}
template <typename T>
T atomic_fetch_add(T* at, T value, int) {
  return as_atomic(at).fetch_add(value);
}
template <typename T>
T atomic_fetch_sub(T* at, T value, int) {
  return as_atomic(at).fetch_sub(value);
}

inline bool multiply_overflows(std::size_t a, std::size_t b, std::size_t& result) {
  result = a * b;
  return a != 0 && result / a != b;
}
constexpr unsigned leading_zeros(std::uint64_t word) { return static_cast<unsigned>(std::countl_zero(word)); }
constexpr unsigned trailing_zeros(std::uint64_t word) {
  return static_cast<unsigned>(std::countr_zero(word));
}

}  // namespace TARN_NAMESPACE::detail
