// System calls without libc: they do not change errno (free must not) and work before libc is ready.
// \returns the kernel's answer; a negative number is -errno.
#pragma once
#include <sys/syscall.h>

#include <cstddef>

#include "os/process/common_calls.h"

namespace tarn::internal::os {

#if defined(__x86_64__)
inline long syscall6(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
inline long syscall6(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  register long x5 asm("x5") = f;
  asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}
#else
#error "tarn supports x86-64 and aarch64"
#endif

/// Arguments that are no longs.
inline long to_long(const void* pointer) { return reinterpret_cast<long>(pointer); }
inline long to_long(std::size_t number) { return static_cast<long>(number); }

}  // namespace tarn::internal::os
