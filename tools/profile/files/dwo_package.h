// The split DWARF of all units in one file (.dwp), which libdw reads only from 0.191 on.
//
// The idea: the package's index says which part of each section is a unit's. These parts, with the addresses
// and ranges that the program's own file keeps for the unit, make a file in memory of that unit alone, which
// libdw reads as it reads a .dwo file.
// Source: the DWARF 5 standard, 7.3.5; the GNU version before it has other numbers of sections.
//
// Threads: one at a time.
#pragma once
#include <elfutils/libdw.h>

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "observer/files/input_file.h"

namespace tarn::profile {

class DwoPackage {
 public:
  /// \param file which need not be one \param main has the units that are split
  DwoPackage(observer::InputFile file, Dwarf* main);
  DwoPackage(const DwoPackage&) = delete;
  DwoPackage& operator=(const DwoPackage&) = delete;

  /// Finds the full unit of one that has lines alone. \returns false: it has none here.
  bool find(Dwarf_Die& skeleton, Dwarf_Die& full);

 private:
  struct EndElf {
    void operator()(Elf* elf) const { elf_end(elf); }
  };
  struct EndDwarf {
    void operator()(Dwarf* debug) const { dwarf_end(debug); }
  };
  struct Part {
    unsigned section;
    std::uint32_t offset, bytes;
  };
  struct Unit {
    std::string image;
    std::unique_ptr<Elf, EndElf> elf;
    std::unique_ptr<Dwarf, EndDwarf> debug;
  };

  std::vector<Part> parts_of(std::uint64_t id) const;
  std::string image_of(Dwarf_Die& skeleton, const std::vector<Part>& parts) const;

  observer::InputFile file_;
  std::unique_ptr<Elf, EndElf> elf_;
  Dwarf* main_;
  std::unordered_map<std::uint64_t, Unit> units_;  // by their number
};

}  // namespace tarn::profile
