// An atomic load that is one instruction and no more.
//
// g++ takes each atomic load, also a relaxed one, for a write to all memory: a loop around it loads again, at
// each step, what any other function might know of. A loop that gets objects by their handles takes 2.7 ns a
// step with atomic loads and 2.2 ns with these (docs/decisions/047-handles-over-a-class.md).
#pragma once
#include <atomic>

#include "tarn/detail/api.h"

namespace TARN_NAMESPACE::detail {

/// A load that happens when and as often as the program says. Of what the storing thread had written before,
/// only what is read through a value loaded quietly behind this one is sure to be seen: no other access of
/// the program's is in any order with it. \tparam T 4 or 8 bytes.
template <typename T>
TARN_INLINE T load_quietly(const std::atomic<T>& word) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
  T value;
  asm volatile("mov {%1, %0|%0, %1}" : "=r"(value) : "m"(word));
  return value;
#else
  return word.load(std::memory_order_acquire);
#endif
}

/// The same of half of a word. \why the half: an instruction less than to shift it down.
TARN_INLINE std::uint32_t load_upper_half_quietly(const std::atomic<std::uint64_t>& word) {
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
  using Half [[gnu::may_alias]] = std::uint32_t;
  std::uint32_t value;
  asm volatile("mov {%1, %0|%0, %1}" : "=r"(value) : "m"(reinterpret_cast<const Half*>(&word)[1]));
  return value;
#else
  return static_cast<std::uint32_t>(word.load(std::memory_order_acquire) >> 32);
#endif
}

}  // namespace TARN_NAMESPACE::detail
