// Accesses of memory that the library has closed: whoever watches some is told of a fault there, in the
// guilty thread; then it goes on to the program's own action for it, or the system ends the process in the
// guilty instruction, as if nobody had watched.
//
// A program may set its action later: so what watches is put in front again at each call.
// Threads: any.
#pragma once
#include <cstdint>

#include "os/stack/unwind.h"

namespace tarn::internal::os {

struct MemoryFault {
  bool is_write;
  StackPlace place;
};

/// \param owns whether an address is watched. \param tell is called in a handler: it takes no locks and
/// allocates nothing. Both the same each time.
void watch_faults(bool (*owns)(const void* address),
                  void (*tell)(std::uintptr_t address, const MemoryFault& fault));

}  // namespace tarn::internal::os
