// Where a program's pointers begin, seen from inside: all of its memory that is not the heap itself. Data and
// .bss of every file, stacks, thread-local memory, what it has mapped by itself, shared memory; and what the
// kernel tells of threads that wait. The rules are those of the tools, which look from outside
// (tools/observer/leaks/roots.h).
//
// The library's own memory is no root, its data as little as its records: what only the library has an
// address of, the program has lost. Words that the program gave the library count. The dead part of the main
// thread's stack does not count, where that thread is the one that looks.
// Threads: one.
#pragma once
#include "observe/leaks/reachability.h"
#include "observe/profile/loaded_modules.h"
#include "os/memory/own_memory.h"

namespace tarn::internal {

/// Memory that is not read for roots.
class NotRoots {
 public:
  /// \returns false when memory is refused.
  bool begin();
  void add(os::AddressRange range) {
    if (range.start < range.end && ranges_.size() < kMost) ranges_.push(range);
  }
  /// The reserves, records, tables and data of the library. \param modules tell which file it is in
  void add_library(const LoadedModules& modules);
  /// Calls visit(start, end) for what is left of a range. \pre sort() came before
  template <typename Visit>
  void for_each_rest(os::AddressRange range, Visit visit) const {
    for (const os::AddressRange& without : ranges_) {
      if (without.end <= range.start || without.start >= range.end) continue;
      if (without.start > range.start) visit(os::AddressRange{range.start, without.start});
      range.start = without.end;
    }
    if (range.start < range.end) visit(range);
  }
  void sort();

 private:
  static constexpr std::size_t kMost = 8192;

  void add_data(os::AddressRange range);

  MappedArray<os::AddressRange> ranges_;
};

/// Scans all roots. \param stack_pointer of the calling thread: what lies below it on the main stack is dead.
/// \returns false when the kernel does not tell where they are.
bool scan_roots(Reachability& reach, const NotRoots& not_roots, std::uintptr_t stack_pointer);

/// \returns what reads the process's own memory.
MemoryReader reader_of(os::OwnMemory& memory);

}  // namespace tarn::internal
