// At most one watcher is called when the library takes memory: with what happens, on the thread that takes it
// and under its locks, so that the watcher sees the stack of the guilty call. It is the one exception to the
// rule that no function of the program's runs under a lock; therefore it must not allocate.
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
