// A lock of one thread, its owner, that others, the visitors, may take too. The owner takes it and lets it go
// with plain stores, and has no fence that would wait for what the thread wrote before (idea: D. Dice,
// H. Huang, M. Yang, "Asymmetric Dekker Synchronization", 2001; membarrier(2)).
//
// Owner and visitor each write a word of their own, then read the other's, with a fence in between: so either
// the visitor sees the owner inside, or the owner the visitor's wish. The visitor's fence is one for all
// threads of the process, by a system call. Where the process may not make that call, since the system has it
// not, or since a filter of system calls stands or is to come, the owner has a fence of its own.
//
// Threads: enter and leave by the owner; the others by visitors: one at a time, as another lock sees to,
// where the wish is taken back. The owner waits for nothing inside, since a visitor waits for it, mostly with
// that lock held. After a fork, an owner that is gone is outside.
#pragma once
#include <atomic>
#include <climits>
#include <cstdint>

#include "tarn/detail/owner_lock.h"

namespace tarn::internal::os {

/// Fences all threads of the process. \returns false where the system refuses.
bool fence_by_system();

class OwnerLock {
 public:
  /// A visitor makes its wish, then fences all threads, then waits until the owner is outside.
  static void fence_all_threads();
  /// Whether that call fences; else owners have fences of their own.
  static bool can_fence_all_threads() { return fences.side.load() == detail::OwnerFences::Side::kVisitors; }

  /// Spares owners their fences, if the process may; once, best while it has one thread: with more it takes
  /// the kernel some 10 ms.
  static void prepare();
  /// A filter of system calls may soon stand: from now on owners have fences, and visitors make no call.
  static void forbid_calls();

  /// Before a fork, by its thread; then in the child: the owners that are gone are outside, and nobody is in
  /// a call.
  static void note_fork();
  static void forget_other_threads();

  /// Waits until the owner of a mark is outside. \pre the wish is made, then all threads were fenced.
  /// \returns false when it has taken longer than so many milliseconds, about.
  static bool wait_for(detail::OwnerMark& mark, unsigned milliseconds = UINT_MAX);

  inline static constinit detail::OwnerFences fences{1, detail::OwnerFences::Side::kOwners};

 private:
  inline static constinit std::atomic<std::uint32_t> visitors_in_call{0};
};

}  // namespace tarn::internal::os
