// The functions that the symbol tables of a file name: its own, its debug file's, and the compressed one in
// .gnu_debugdata.
//
// Invariant: sorted by address. Threads: constant once read; any.
#pragma once
#include <elfutils/libdwfl.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tarn::profile {

class ElfFunctions {
 public:
  ElfFunctions() = default;
  explicit ElfFunctions(Dwfl_Module* module);

  /// \returns the name, in words, of the function that holds an address of the file.
  std::optional<std::string> name_at(std::uint64_t address) const;

 private:
  struct Function {
    std::uint64_t start, end;  // end == start: the table does not say; up to the next one
    std::string name;          // mangled
  };
  std::vector<Function> functions_;
};

/// "app::build(int)" of "_ZN3app5buildEi"; a name that is not mangled stays as it is.
std::string name_in_words(const std::string& name);

}  // namespace tarn::profile
