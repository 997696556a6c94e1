// The process's own memory: its areas, as the kernel lists them in /proc/self/maps, and their contents, read
// through the kernel where a load might fault: other threads unmap memory, the program may have closed a page
// of a block, an area may be a device's.
//
// Threads: any, each with an OwnMemory of its own; the list is read a piece at a time while other threads may
// map and unmap. Nothing allocates.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "os/memory/memory.h"

namespace tarn::internal::os {

struct Mapping {
  AddressRange range;
  bool is_readable, is_writable;
  std::string_view path;  // of a file, or as [stack]; empty: memory without a file
};

/// Reads one line of the list, without its end. \returns false when it is none.
bool parse_mapping(std::string_view line, Mapping& mapping);

/// Calls visit(mapping, context) for each area, by ascending addresses. \returns false when the list cannot
/// be read to its end.
bool visit_mappings(void (*visit)(const Mapping& mapping, void* context), void* context);

template <typename Visit>
bool for_each_mapping(Visit visit) {
  return visit_mappings([](const Mapping& mapping, void* to) { (*static_cast<Visit*>(to))(mapping); },
                        &visit);
}

class OwnMemory {
 public:
  static constexpr unsigned kMostRanges = 64;  // of one read

  OwnMemory();
  ~OwnMemory();
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;

  /// Whether the kernel lets it be read. Not where the program filters its calls of the system: a filter may
  /// end the process for a call that it does not know.
  bool can_read() const { return way_ != Way::kNone; }

  /// Copies ranges, one behind the other. \returns the bytes copied: all, or those before the first byte that
  /// cannot be read. \pre at most kMostRanges
  std::size_t read(const AddressRange* ranges, unsigned count, char* to) const;

  /// \returns the first run of OS pages within a range of private memory that were ever written; an empty one
  /// at the end: there is none. Where the kernel does not tell, the whole range.
  AddressRange next_written(AddressRange within) const;

 private:
  enum class Way : std::uint8_t { kNone, kCall, kFile };

  long read_file(const AddressRange* ranges, unsigned count, char* to) const;

  Way way_ = Way::kNone;
  int memory_ = -1, page_map_ = -1;  // files
};

/// Calls visit(word, context) for what the kernel tells of threads that wait in it: the arguments of their
/// calls and their stack pointers.
void visit_words_of_waiting_threads(void (*visit)(std::uintptr_t word, void* context), void* context);

}  // namespace tarn::internal::os
