// Names of virtual tables from the symbol tables of the files that an observed program has mapped: for
// classes that were compiled without type_info (-fno-rtti).
//
// A file on disk is believed only if its build id is that in memory: it may have been replaced since the
// program started. No file is no error, it has no names.
//
// Threads: one at a time; a file is opened when the first address in it is asked for.
#pragma once
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "observer/process/source.h"

namespace tarn::observer {

struct Module {
  Address start = 0, end = 0;
  std::string path;  // as the kernel names it; " (deleted)" behind it where the file was
};

/// Invariant: modules are sorted and do not overlap.
class Modules {
 public:
  explicit Modules(std::span<const Mapping> mappings);

  /// \returns nullptr where an address lies in no module. \cost log n
  const Module* find(Address address) const;
  bool contains(Address address) const { return find(address) != nullptr; }
  const std::vector<Module>& all() const { return modules_; }

 private:
  std::vector<Module> modules_;
};

class Symbols {
 public:
  /// Both must outlive it.
  Symbols(const Source& source, const Modules& modules) : source_(source), modules_(modules) {}

  /// \returns the class whose virtual table holds the address; "" when no symbol says.
  std::string class_of_table(Address table);

 private:
  struct TableSymbol {
    Address end = 0;
    std::string mangled;  // "_ZTV5Quest"
  };
  using Tables = std::map<Address, TableSymbol>;

  Tables read_tables(const Module& module) const;

  const Source& source_;
  const Modules& modules_;
  std::unordered_map<const Module*, Tables> tables_;
};

}  // namespace tarn::observer
