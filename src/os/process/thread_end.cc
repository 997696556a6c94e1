#include "os/process/thread_end.h"

#include <pthread.h>

namespace tarn::internal::os {
namespace {

pthread_key_t key;

}  // namespace

bool watch_thread_ends(void (*at_end)(void* value)) { return pthread_key_create(&key, at_end) == 0; }

bool note_for_thread_end(void* value) { return pthread_setspecific(key, value) == 0; }

}  // namespace tarn::internal::os
