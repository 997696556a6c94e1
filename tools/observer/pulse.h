// What changes in a program whenever its threads allocate or free: compared before and after a snapshot was
// read, it says whether the snapshot is of one moment.
#pragma once
#include <cstdint>
#include <vector>

#include "observer/layout.h"
#include "observer/snapshot.h"

namespace tarn::observer {

/// Invariant: tops has an entry for each size class of each thread, in the order of the threads.
struct Pulse {
  std::vector<Address> heaps;
  std::vector<std::uint64_t> tops;  // where the free blocks that threads have at hand end
  std::uint64_t slow_calls = 0, page_locks = 0;
  double time = 0;  // seconds

  static Pulse read(const Source& source, const Layout& layout);
};

/// \returns what the program did between two pulses. \pre before was read first.
Exactness compare(const Pulse& before, const Pulse& after);

}  // namespace tarn::observer
