// Leaks that are known, from a file of the program's user (base/leak_rules.h says how it looks): each
// pattern is looked for in the files and in the exported functions of a stack.
//
// Threads: one.
#pragma once
#include <string_view>

#include "observe/profile/loaded_modules.h"
#include "observe/profile/mapped_array.h"
#include "observe/profile/samples.h"

namespace tarn::internal {

/// \returns the exported function that has an address, as the linker knows it; nullptr: none, or the program
/// has no loader to ask. It takes the loader's lock.
const char* exported_function(std::uint64_t address);

class LeakSuppressions {
 public:
  struct Known {
    std::string_view pattern;
    std::uint64_t blocks, bytes;  // that it has suppressed
  };

  /// Reads a file; "": there is none. One that cannot be read, and each line that is none, costs a line on
  /// standard error.
  void read(const char* path);
  /// The same from text, which must outlive it. \param name for messages
  void parse(std::string_view text, std::string_view name);

  bool has_any() const { return known_.size() != 0; }
  /// \returns the first pattern that is found in a stack; nullptr: none is.
  Known* find(std::uint32_t stack, const LoadedModules& modules);
  /// The same of one frame's names, of which either may be nullptr.
  Known* find_in(const char* module, const char* function);

  Known* begin() { return known_.begin(); }
  Known* end() { return known_.end(); }

 private:
  MappedArray<char> text_;
  MappedArray<Known> known_;
};

}  // namespace tarn::internal
