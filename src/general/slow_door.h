// Stands around the general pool's slow calls, for threads that leave one half way. POSIX forbids both ways
// to do so, and programs take them. Asynchronous cancellation waits until the call is over.
//
// A jump out of a signal handler that had interrupted the call: the thread's next slow call finds the left
// one still noted, at a place of the stack that is free again. In a process of one thread it then lets go all
// locks and puts right what they guard (central/slabs/put_right.h); blocks on their way between a slab and
// a magazine are lost. Beside other threads locks may be theirs: what the left call held stays held. A call
// inside of a call, of a handler or of a function of the program's, lies deeper in the stack, or on the stack
// for signals; it is let through.
//
// Doors are in functions that are not inlined, so that an inner door lies deeper than the outer one.
// Threads: the calling one.
#pragma once
#include <cstdint>

#include "base/units.h"
#include "os/locks/lock_rank.h"

namespace tarn::internal {

/// The address of the innermost door; 0: the thread is in no slow call.
TARN_THREAD_VARIABLE(, std::uintptr_t, noted_slow_door);

class SlowDoor {
 public:
  SlowDoor() : outer_(noted()) {
    if (outer_ != 0 && outer_ <= address_of(this)) [[unlikely]]
      outer_ = end_left_call();
    noted() = address_of(this) | (os::is_only_thread() ? 0 : defer_cancellation());
  }
  ~SlowDoor() {
    const std::uintptr_t own = noted();
    noted() = outer_;
    if ((own & kAsynchronous) != 0) [[unlikely]]
      allow_cancellation();
  }
  SlowDoor(const SlowDoor&) = delete;
  SlowDoor& operator=(const SlowDoor&) = delete;

 private:
  static constexpr std::uintptr_t kAsynchronous = 1;  // the thread may be cancelled at any time

  /// \returns kAsynchronous or 0.
  static std::uintptr_t defer_cancellation();
  [[gnu::cold]] static void allow_cancellation();
  /// \returns what is noted from now on: 0, or the same where the call has not been left.
  [[gnu::cold]] static std::uintptr_t end_left_call();

  static std::uintptr_t& noted() { return TARN_OF_THREAD(noted_slow_door); }

  std::uintptr_t outer_;
};

}  // namespace tarn::internal
