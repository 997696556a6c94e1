// At most one watcher is called when the library takes memory, on the calling thread and under its locks, so
// that the watcher sees the stack of the guilty call. The watcher is the one exception to the rule that no
// function of the program runs under a lock; therefore it must not allocate.
#pragma once
#include <atomic>

namespace tarn::internal::os {

using GrowthWatcher = void (*)(const char* what);
extern std::atomic<GrowthWatcher> growth_watcher;

inline void tell_growth(const char* what) {
  const GrowthWatcher watcher = growth_watcher.load(std::memory_order_relaxed);
  if (watcher != nullptr) [[unlikely]]
    watcher(what);
}

}  // namespace tarn::internal::os
