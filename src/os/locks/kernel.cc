// What locks ask of Linux: futexes, and fences of all threads.
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <time.h>

#include <climits>

#include "os/locks/mutex.h"
#include "os/locks/owner_lock.h"
#include "os/syscall.h"

namespace tarn::internal::os {
namespace {

long futex(const void* word, int operation, std::uint32_t value, const timespec* timeout,
           Sleeper who = Sleeper::kThread) {
  return syscall6(SYS_futex, to_long(word), operation | FUTEX_PRIVATE_FLAG, value, to_long(timeout), 0,
                  static_cast<long>(who));
}

bool membarrier(int command) { return syscall6(SYS_membarrier, command, 0, 0) == 0; }

}  // namespace

const void* this_thread() { return reinterpret_cast<const void*>(pthread_self()); }

void sleep_on(const void* word, std::uint32_t value, Sleeper who) {
  futex(word, FUTEX_WAIT_BITSET, value, nullptr, who);
}

void wake_one(const void* word, Sleeper who) { futex(word, FUTEX_WAKE_BITSET, 1, nullptr, who); }

void wait_on_address(const void* word, std::uint32_t value, std::uint64_t timeout_ms) {
  const timespec timeout{static_cast<time_t>(timeout_ms / 1000),
                         static_cast<long>(timeout_ms % 1000 * 1000000)};
  futex(word, FUTEX_WAIT, value, &timeout);
}

void wake_all_at(const void* word) { futex(word, FUTEX_WAKE, INT_MAX, nullptr); }

bool fence_by_system() {
  if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) return true;
  return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) &&
         membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

}  // namespace tarn::internal::os
