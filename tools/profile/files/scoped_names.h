// The names of functions in debug information, with the namespaces and classes around them.
//
// The idea: a linkage name is whole, but what has no linkage has none (members and templates of an anonymous
// namespace, lambdas, members of local classes), and DW_AT_name alone is "add", or "make_unique" of the
// standard library. Debug information points to children only, so one walk through a unit, made when such a
// function is first met, notes what is around each.
#pragma once
#include <elfutils/libdw.h>

#include <string>
#include <unordered_map>

namespace tarn::profile {

constexpr int kDeepestScope = 64;  // debug information may be forged

/// Threads: one at a time.
class ScopedNames {
 public:
  /// \returns the function in words, as a demangler writes it; "": it has no name
  std::string function_of(Dwarf_Die& die);

 private:
  using Names = std::unordered_map<const void*, std::string>;

  std::unordered_map<const void*, Names> units_;  // by unit; of functions, by their declaration
};

}  // namespace tarn::profile
