// The pieces of a program's memory that lie in a dump file.
//
// Invariant: ranges are sorted and do not overlap. What the file's header promises may lie behind the file's
// end: such a range covers its addresses, but cannot be read.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "observer/files/input_file.h"
#include "observer/process/source.h"

namespace tarn::observer {

/// \throws ObserveError: there is no such file, no right to read it, or it is a pipe or a device.
InputFile open_dump_file(const std::string& path);

/// Addresses whose bytes lie in the file from `offset` on.
struct DumpRange {
  Address start = 0, end = 0;
  std::uint64_t offset = 0;
};

class DumpMemory {
 public:
  DumpMemory() = default;
  /// Where ranges overlap the one that starts first has the bytes.
  explicit DumpMemory(std::vector<DumpRange> ranges);

  /// Copies bytes from one range, or from several that touch. \returns how many.
  std::size_t read(const InputFile& file, Address address, void* into, std::size_t bytes) const;
  bool covers(Address address) const;
  const std::vector<DumpRange>& ranges() const { return ranges_; }

 private:
  std::vector<DumpRange> ranges_;
};

}  // namespace tarn::observer
