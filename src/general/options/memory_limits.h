// The doors at which limits of memory are applied, the program's (page/memory/memory_limit.h) and the
// system's. A request that may take pages passes one at its end, where no lock is held: there free memory
// is given back for what was refused, and the program is told.
//
// What is given back, in this order, until there is enough: free pages; the calling thread's magazines, those
// that ended threads have left, those of all other threads but for the newest block of each class
// (Registry::collect_magazines), and the idle slabs and cached spans of all owners. What pools keep stays: it
// cannot be told from what was made ahead of need.
// Threads: any, with no lock held.
#pragma once
#include "os/locks/held_locks.h"
#include "page/memory/memory_limit.h"

namespace tarn::internal {

/// Gives memory back for a request that a limit refused. \returns whether another try is worth it. \cost a
/// walk along the thread's magazines; a search through all threads and owners, as often as
/// refusals_per_search() allows.
[[gnu::cold]] bool find_memory(const Refusal& refusal);

[[gnu::cold]] void answer_limits_slow();

/// Call at the end of a request: gives memory back above the soft limit, and tells the program what happened.
/// \cost a load, unless something did.
inline void answer_limits() {
  os::check_no_lock_is_held("at the end of a request");
  if (memory_limit.has_events()) [[unlikely]]
    answer_limits_slow();
}

/// Whether so much can be taken ahead of need: neither the hard limit nor the system is sure to refuse it.
/// \cost a load for what is small; else files are read (os/memory/available_memory.h).
bool may_be_had(std::size_t bytes);
inline bool may_be_had(std::size_t count, std::size_t bytes_each) {
  return count <= kLargestRequest / bytes_each && may_be_had(count * bytes_each);
}

/// \returns what take() takes; where a limit lets it take nothing, what it takes after memory was given back.
template <typename Take>
auto take_within_limits(const Take& take) {
  constexpr int kTries = 4;                        // other threads may take what was given back
  static_cast<void>(MemoryLimit::take_refusal());  // of a request that was served in another way
  auto taken = take();
  for (int i = 0; !taken; ++i) {
    const Refusal refusal = MemoryLimit::take_refusal();
    if (refusal.by == Refusal::By::kNobody) break;
    if (i == kTries || !find_memory(refusal)) {
      if (refusal.by == Refusal::By::kHardLimit) memory_limit.note_refused_request();
      break;
    }
    taken = take();
  }
  answer_limits();
  return taken;
}

}  // namespace tarn::internal
