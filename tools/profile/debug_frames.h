// Frames of an address from a file's debug information (DWARF), functions that were inlined there included.
//
// The idea: the units of a file are sorted by their ranges once, and a unit's functions when an address in it
// is first asked for. \why not dwarf_addrdie: it needs .debug_aranges, which clang does not write.
//
// Threads: one at a time.
#pragma once
#include <elfutils/libdw.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "frame.h"

namespace tarn::profile {

class DebugFrames {
 public:
  /// \pre `elf` outlives it. Without debug information it has no frames.
  explicit DebugFrames(Elf* elf);
  ~DebugFrames();
  DebugFrames(const DebugFrames&) = delete;
  DebugFrames& operator=(const DebugFrames&) = delete;

  bool is_empty() const { return units_.empty(); }
  /// \returns innermost first; the last is the function that was not inlined. Empty: nothing is known. A
  /// frame whose function is not known has the line alone.
  std::vector<Frame> frames_at(std::uint64_t address);

 private:
  struct DieRange {
    std::uint64_t start, end;
    Dwarf_Die die;
  };
  using Ranges = std::vector<DieRange>;

  void add_units();
  Ranges& functions_of(Dwarf_Die& unit);
  static void add_ranges(Dwarf_Die& die, Ranges& ranges);
  static void add_functions(Dwarf_Die& parent, int depth, Ranges& ranges);
  static DieRange* find(Ranges& ranges, std::uint64_t address);

  Dwarf* debug_ = nullptr;
  Ranges units_;
  std::unordered_map<const void*, Ranges> functions_;  // by unit
};

}  // namespace tarn::profile
