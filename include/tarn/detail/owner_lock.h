// The owner's side of a lock of one thread that others, the visitors, may take too: a mark that the owner is
// inside, which it sets and clears with plain stores. Between the mark and the owner's next loads lies a
// fence of the visitor's, by a system call for all threads of the process, or where the process may not make
// that call, one of the owner's own (os/locks/owner_lock.h).
//
// Threads: enter and leave by the owner.
#pragma once
#include <cstdint>

#include "tarn/detail/api.h"
#include "tarn/detail/atomic.h"

namespace TARN_NAMESPACE::detail {

/// Which side has the fences. One for the process, in a cache line that is hardly ever written.
struct alignas(64) OwnerFences {
  enum class Side : std::uint8_t { kOwners, kBoth, kVisitors };

  Atomic<std::uint32_t> process_number;  // another one in the child of a fork
  Atomic<Side> side;
};

/// A full fence of the calling thread.
TARN_COLD TARN_NOINLINE TARN_API void fence_of_owner() noexcept;

class OwnerMark {
 public:
  TARN_INLINE void enter(const OwnerFences& fences) {
    if (!enter_at_once(fences)) [[unlikely]]
      fence_of_owner();
  }
  /// The same without the owner's fence. \returns false where it needs one.
  TARN_INLINE bool enter_at_once(const OwnerFences& fences) {
    owner_.store(fences.process_number.load(kRelaxed), kRelaxed);
    signal_fence();
    return fences.side.load(kAcquire) == OwnerFences::Side::kVisitors;
  }
  TARN_INLINE void leave() { owner_.store(kOutside, kRelease); }
  /// \threads the owner; a visitor, who has fenced all threads.
  bool is_inside() const { return owner_.load(kAcquire) != kOutside; }

  Atomic<std::uint32_t>& word() { return owner_; }

 private:
  static constexpr std::uint32_t kOutside = 0;

  Atomic<std::uint32_t> owner_{kOutside};  // else the number of its process
};

}  // namespace TARN_NAMESPACE::detail
