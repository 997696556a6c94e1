#include "os/process/library_thread.h"

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cerrno>
#include <cstddef>

#include "os/process/process.h"
#include "os/process/process_status.h"

namespace tarn::internal::os {
namespace {

// For what gives memory back. Too little where libraries have much thread-local memory: then libc's own size.
constexpr std::size_t kStackBytes = 256 * 1024;

// Of the process, whose number stands in the upper half: a child by fork has none.
constinit std::atomic<std::uint64_t> running{0};

std::uint32_t threads_in(std::uint64_t word) {
  return word >> 32 == process_id() ? static_cast<std::uint32_t>(word) : 0;
}

void count_running(std::uint32_t more) {
  const std::uint64_t process = std::uint64_t{process_id()} << 32;
  std::uint64_t now = running.load(std::memory_order_relaxed);
  while (!running.compare_exchange_weak(now, process | (threads_in(now) + more))) {
  }
}

void* run(void* body) {
  pthread_setname_np(pthread_self(), "tarn");
  count_running(1);
  reinterpret_cast<void (*)()>(body)();
  count_running(UINT32_MAX);
  return nullptr;
}

bool start_detached(std::size_t stack_bytes, void (*body)()) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  if (stack_bytes != 0) pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_t thread{};
  const bool is_started = pthread_create(&thread, &attributes, run, reinterpret_cast<void*>(body)) == 0;
  pthread_attr_destroy(&attributes);
  return is_started;
}

}  // namespace

bool start_thread(void (*body)()) {
  const int error = errno;  // the program's, in a free as an example
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool is_started = start_detached(kStackBytes, body) || start_detached(0, body);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return is_started;
}

bool is_last_thread() {
  const std::size_t threads = thread_count(), own = threads_in(running.load(std::memory_order_relaxed));
  return threads <= own || (threads == own + 1 && main_thread_has_ended());
}

}  // namespace tarn::internal::os
