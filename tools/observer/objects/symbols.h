// Names of virtual tables from the symbol tables of the files that an observed program has mapped: for
// classes that were compiled without type_info (-fno-rtti).
//
// A file on disk is believed only if its build id is that in memory: it may have been replaced since the
// program started. No file is no error, it has no names.
//
// Threads: one at a time; a file is opened when the first address in it is asked for.
#pragma once
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "observer/objects/modules.h"
#include "observer/process/source.h"

namespace tarn::observer {

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
