// Handlers around fork; none where the system has no fork.
#pragma once
#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace tarn::internal::os {

using ForkHandler = void (*)();

/// \param before nullptr, like the others: nothing is called.
inline void at_fork([[maybe_unused]] ForkHandler before, [[maybe_unused]] ForkHandler in_parent,
                    [[maybe_unused]] ForkHandler in_child) {
#if !defined(_WIN32)
  pthread_atfork(before, in_parent, in_child);
#endif
}

}  // namespace tarn::internal::os
