#include "os/mutex.h"

#include <linux/futex.h>
#include <time.h>

#include <climits>

#include "os/syscall.h"

namespace tarn {
namespace {

using internal::os::syscall6;

constexpr int kLongestSpin = 32;  // in all about as long as the page cache is held for one span

void cpu_relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  asm volatile("yield");
#endif
}

long futex(const std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* timeout) {
  return syscall6(SYS_futex, reinterpret_cast<long>(&word), operation | FUTEX_PRIVATE_FLAG, value,
                  reinterpret_cast<long>(timeout));
}

}  // namespace

namespace detail {

void Mutex::lock_slow() {
  // Looking costs the holder its cache line, so each look comes twice as late as the one before.
  for (int spins = 1; spins <= kLongestSpin; spins *= 2) {
    for (int i = 0; i < spins; ++i) cpu_relax();
    if (state_.load(std::memory_order_relaxed) == kFree && try_lock()) return;
  }
  while (state_.exchange(kContended, std::memory_order_acquire) != kFree)
    futex(state_, FUTEX_WAIT, kContended, nullptr);
}

void Mutex::wake_one() { futex(state_, FUTEX_WAKE, 1, nullptr); }

}  // namespace detail

namespace internal::os {

void wait_on(std::atomic<std::uint32_t>& word, std::uint32_t value, std::uint64_t timeout_ms) {
  const timespec timeout{static_cast<time_t>(timeout_ms / 1000), static_cast<long>(timeout_ms % 1000 * 1000000)};
  futex(word, FUTEX_WAIT, value, &timeout);
}

void wake_all(std::atomic<std::uint32_t>& word) { futex(word, FUTEX_WAKE, INT_MAX, nullptr); }

}  // namespace internal::os
}  // namespace tarn
