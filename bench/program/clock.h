// Time: nanoseconds of the monotonic clock for rows, the cycle counter for single calls.
#pragma once
#include <time.h>

#include <cstdint>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace tarn::bench {

inline std::uint64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

/// The counter alone, unserialised: a call of a few cycles would drown in a fence. Memory accesses stay on
/// their side.
[[gnu::always_inline]] inline std::uint64_t cycles() {
  asm volatile("" ::: "memory");
#if defined(__x86_64__)
  const std::uint64_t count = __rdtsc();
#elif defined(__aarch64__)
  std::uint64_t count;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
#else
  const std::uint64_t count = now_ns();
#endif
  asm volatile("" ::: "memory");
  return count;
}

/// Length of one count of cycles(), measured against the monotonic clock.
double ns_per_cycle();

}  // namespace tarn::bench
