// A program or library as a source of frames: libdwfl reads its symbols and its debug information, wherever
// either is kept (debug_file.h, .gnu_debugdata, split DWARF).
//
// Threads: one at a time.
#pragma once
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "observer/files/input_file.h"
#include "profile/files/debug_file.h"
#include "profile/files/dwo_package.h"
#include "profile/files/elf_functions.h"
#include "profile/files/frame.h"
#include "profile/files/scoped_names.h"

namespace tarn::profile {

/// Frames of an address from a file's debug information (DWARF), functions that were inlined there included.
/// Split DWARF is found by libdw (.dwo), or in a package (.dwp).
///
/// The idea: the units of a file are sorted by their ranges once, and a unit's functions when an address in
/// it is first asked for. \why not dwarf_addrdie: it needs .debug_aranges, which clang does not write.
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
  /// The class whose constructor begins in the same line, and in some instructions, behind the call at an
  /// address in the innermost function there: what a `new` makes, which has no name of its own. "": none does
  std::string class_made_behind(Dwarf_Die scope, std::uint64_t address, unsigned line);

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
  ScopedNames names_;
};

class SymbolFile {
 public:
  /// \param path as the program names the file, beside which its debug file may be
  /// \param places must outlive it
  SymbolFile(observer::InputFile file, const std::string& path, const DebugPlaces& places);

  bool is_elf() const { return elf_ != nullptr; }
  /// As bytes; "" = none.
  std::string build_id() const;
  /// Addresses in the file at which a mapping of `file_offset` can start, ascending. Two segments may share a
  /// page of the file.
  std::vector<std::uint64_t> addresses_at(std::uint64_t file_offset) const;
  /// The offset of the first segment, rounded down to a page, and its address.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> first_segment() const;

  /// \returns innermost first; empty: no name is known.
  std::vector<Frame> frames_at(std::uint64_t address);

 private:
  struct End {
    void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
  };
  void read_names();

  std::string path_;
  const DebugPlaces* places_;
  std::unique_ptr<Dwfl, End> dwfl_;
  Dwfl_Module* module_ = nullptr;
  Elf* elf_ = nullptr;
  bool has_read_names_ = false;
  std::uint64_t debug_bias_ = 0;
  DebugFrames debug_;
  ElfFunctions functions_;
};

}  // namespace tarn::profile
