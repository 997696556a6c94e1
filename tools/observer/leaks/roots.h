// Where a program's pointers begin: all of its memory that is not the heap itself. Data and .bss of every
// module, stacks, thread-local memory, what it has mapped by itself and other allocators, shared memory; and
// the registers of its threads (thread_words.h).
//
// The library's own memory is no root, its data as little as its records: what only the library has an
// address of, the program has lost. Words that the program gave the library count.
#pragma once
#include <cstdint>
#include <vector>

#include "observer/process/source.h"
#include "observer/snapshot/snapshot.h"

namespace tarn::observer {

struct AddressRange {
  Address start = 0, end = 0;
  std::uint64_t bytes() const { return end - start; }
};

struct Roots {
  std::vector<AddressRange> ranges;  // sorted, apart
  std::vector<Address> words;        // of registers
  std::uint64_t device_bytes = 0;    // of mapped devices, which are not read: that may do something
};

/// The heap and the library's records, sorted.
std::vector<AddressRange> heap_ranges(const Snapshot& snapshot);

/// Without words. \returns all that the program could write to, or could once, and that is not the heap's.
Roots memory_roots(const Source& source, const Snapshot& snapshot);

}  // namespace tarn::observer
