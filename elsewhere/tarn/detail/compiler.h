// What the public headers use of GNU's language, for compilers without it (Visual C++).
#pragma once
#if !defined(__GNUC__) || defined(TARN_TEST_WITHOUT_GNU)
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tarn::without_gnu {

template <typename T, typename U>
T fetch_add(T* word, U value) {
  return std::atomic_ref<T>(*word).fetch_add(static_cast<T>(value));
}
inline bool multiply(std::size_t a, std::size_t b, std::size_t* product) {
  *product = a * b;
  return a != 0 && *product / a != b;
}

}  // namespace tarn::without_gnu

#define __ATOMIC_RELAXED 0
#define __ATOMIC_ACQUIRE 2
#define __ATOMIC_RELEASE 3
#define __ATOMIC_ACQ_REL 4
#define __ATOMIC_SEQ_CST 5
#define __atomic_load_n(word, order) std::atomic_ref(*(word)).load()
#define __atomic_store_n(word, value, order) std::atomic_ref(*(word)).store(value)
#define __atomic_fetch_add(word, value, order) ::tarn::without_gnu::fetch_add(word, value)
#define __atomic_fetch_sub(word, value, order) ::tarn::without_gnu::fetch_add(word, 0u - (value))
#define __builtin_memcpy(to, from, bytes) std::memcpy(to, from, bytes)
#define __builtin_memset(to, byte, bytes) std::memset(to, byte, bytes)
#define __builtin_mul_overflow(a, b, product) ::tarn::without_gnu::multiply(a, b, product)
#define __builtin_clzll(word) std::countl_zero(std::uint64_t{word})
#define __builtin_ctzll(word) std::countr_zero(std::uint64_t{word})
#endif
