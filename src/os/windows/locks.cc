// What locks ask of Windows: waiting on addresses, and fences of all threads.
#include "os/locks/mutex.h"
#include "os/locks/owner_lock.h"
#include "os/windows/system.h"

namespace tarn::internal::os {
namespace {

// Where the process is ending, the threads that were to wake others are gone, and what they held stays held.
// The system's own locks end the process then too.
void stop_if_nobody_wakes() {
  constexpr UINT kIsTerminating = 0xc000004b;  // STATUS_THREAD_IS_TERMINATING
  if (is_process_ending()) TerminateProcess(GetCurrentProcess(), kIsTerminating);
}

void wait(const void* word, std::uint32_t value, DWORD timeout_ms) {
  WaitOnAddress(const_cast<void*>(word), &value, sizeof value, timeout_ms);
}

}  // namespace

const void* this_thread() { return tarn::block_of_thread(); }

// There is no fork to be told apart.
void sleep_on(const void* word, std::uint32_t value, Sleeper) {
  stop_if_nobody_wakes();
  wait(word, value, INFINITE);
}
void wake_one(const void* word, Sleeper) { WakeByAddressSingle(const_cast<void*>(word)); }

void wait_on_address(const void* word, std::uint32_t value, std::uint64_t timeout_ms) {
  wait(word, value, timeout_ms < INFINITE ? static_cast<DWORD>(timeout_ms) : INFINITE);
}
void wake_all_at(const void* word) { WakeByAddressAll(const_cast<void*>(word)); }

bool fence_by_system() {
  FlushProcessWriteBuffers();
  return true;
}

}  // namespace tarn::internal::os
