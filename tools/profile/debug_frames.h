// Frames of an address from a file's debug information (DWARF), functions that were inlined there included.
//
// Split DWARF is found by libdw (.dwo), or in a package (.dwp).
//
// The idea: the units of a file are sorted by their ranges once, and a unit's functions when an address in it
// is first asked for. \why not dwarf_addrdie: it needs .debug_aranges, which clang does not write.
//
// Threads: one at a time.
#pragma once
#include <elfutils/libdw.h>

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "dwo_package.h"
#include "frame.h"

namespace tarn::profile {

class DebugFrames {
 public:
  /// Nothing is known.
  DebugFrames() = default;
  /// \pre `debug` outlives it. \param package of units that are split, beside them
  DebugFrames(Dwarf* debug, std::unique_ptr<DwoPackage> package);

  /// \returns innermost first; the last is the function that was not inlined. Empty: nothing is known. A
  /// frame whose function is not known has the line alone.
  std::vector<Frame> frames_at(std::uint64_t address);

 private:
  struct DieRange {
    std::uint64_t start, end;
    Dwarf_Die die;
  };
  using Ranges = std::vector<DieRange>;
  /// What a unit's functions are read from: of split DWARF, the unit of the other file.
  using FullUnits = std::unordered_map<const void*, Dwarf_Die>;

  Dwarf_Die& full_unit(Dwarf_Die& unit);
  Ranges& functions_of(Dwarf_Die& unit);
  static void add_ranges(Dwarf_Die& die, Ranges& ranges);
  static void add_functions(Dwarf_Die& parent, int depth, Ranges& ranges);
  static DieRange* find(Ranges& ranges, std::uint64_t address);

  Ranges units_;
  FullUnits full_units_;  // by the unit that has the lines; without an address: not found yet
  std::unique_ptr<DwoPackage> package_;
  std::unordered_map<const void*, Ranges> functions_;  // by unit
};

}  // namespace tarn::profile
