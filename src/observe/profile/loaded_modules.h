// The files that the process's code lies in, to tell an address as a file and an offset: the list is made
// when the loader's lock may be taken, and looked at when nothing may.
//
// Threads: one makes the list; any look at it later.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/text.h"

namespace tarn::internal {

struct LoadedModule {
  static constexpr std::size_t kPathBytes = 128;

  std::uintptr_t start, end, base;
  char path[kPathBytes];  // of a longer path, the end
};

/// libtarn.so, libtarn_core.so.0.1
bool is_of_library(const LoadedModule& module);

class LoadedModules {
 public:
  /// \param storage room for `room` of them
  constexpr LoadedModules(LoadedModule* storage, std::size_t room) : modules_(storage), room_(room) {}

  /// Makes the list anew; files beyond the room are left out. \pre the loader's lock may be taken
  void note_all();

  /// \returns nullptr when no file has the address.
  const LoadedModule* find(std::uintptr_t address) const;
  /// Adds "file+0xoffset"; nothing when no file has the address. \returns whether one has it.
  bool add_place(Text& text, std::uintptr_t address) const;

 private:
  LoadedModule* modules_;
  std::size_t room_, count_ = 0;
};

}  // namespace tarn::internal
