// Who wants to know when the library takes memory: at most one watcher, told what happens, in the thread and
// with the locks of whoever takes it. It must not allocate.
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
