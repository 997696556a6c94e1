// What changes in a program whenever its threads allocate or free: compared before and after a snapshot was
// read, it says whether the snapshot is of one moment.
#pragma once
#include <cstdint>
#include <vector>

#include "observer/records/bounds.h"
#include "observer/records/layout.h"
#include "observer/snapshot/snapshot.h"

namespace tarn::observer {

/// The free blocks of a class that a thread has cached.
struct Place {
  Address top = 0;         // behind the last one
  std::uint32_t room = 0;  // for so many
};

/// Invariant: places has an entry for each size class but the first of each thread, in the order of the
/// threads.
struct Pulse {
  std::vector<Address> heaps;
  std::vector<Place> places;
  std::uint64_t slow_calls = 0, page_locks = 0;
  double time = 0;  // seconds

  static Pulse read(const Source& source, const Layout& layout, Bounds& bounds);
};

/// \returns what the program did between two pulses, and at most how many blocks changed hands so that the
/// records do not show it. \param between what the records said that were copied between the two.
Exactness compare(const Pulse& before, const Pulse& between, const Pulse& after);

}  // namespace tarn::observer
