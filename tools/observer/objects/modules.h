// The files that an observed program has mapped: executables and libraries, with what follows each without a
// gap and without a name (.bss). Tables of C++ classes lie in them, heaps do not.
//
// Threads: constant once made; any.
#pragma once
#include <cstddef>
#include <span>
#include <string>
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

}  // namespace tarn::observer
