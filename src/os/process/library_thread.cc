#include "os/process/library_thread.h"

#include <pthread.h>
#include <signal.h>

#include <cerrno>
#include <cstddef>

#include "os/process/process_status.h"

namespace tarn::internal::os {
namespace {

// For what gives memory back. Too little where libraries have much thread-local memory: then libc's own size.
constexpr std::size_t kStackBytes = 256 * 1024;

void* run(void* body) {
  pthread_setname_np(pthread_self(), "tarn");
  reinterpret_cast<void (*)()>(body)();
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
  const std::size_t threads = thread_count();
  return threads == 1 || (threads == 2 && main_thread_has_ended());
}

}  // namespace tarn::internal::os
