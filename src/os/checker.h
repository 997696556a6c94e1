// AddressSanitizer's marks, where the program has it: memory that goes back to general use must carry none.
#pragma once
#include <cstddef>

extern "C" {
[[gnu::weak]] void __asan_poison_memory_region(const volatile void* start, std::size_t bytes);
[[gnu::weak]] void __asan_unpoison_memory_region(const volatile void* start, std::size_t bytes);
}

namespace tarn::internal::os {

inline void poison(const void* start, std::size_t bytes) {
  if (__asan_poison_memory_region != nullptr) __asan_poison_memory_region(start, bytes);
}
inline void unpoison(const void* start, std::size_t bytes) {
  if (__asan_unpoison_memory_region != nullptr) __asan_unpoison_memory_region(start, bytes);
}

}  // namespace tarn::internal::os
