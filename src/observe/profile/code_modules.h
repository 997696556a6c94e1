// The files that code of sampled stacks lies in, as they were when each stack was first seen: a library may
// be closed before anybody reads its stacks, and another one may be loaded where it lay.
//
// The idea: a new stack is rare. For each of its addresses the loader is asked, without a lock, and a file
// that is not known is noted: its name, its build id, and the number of the stack, since numbers of stacks
// only grow. So an address of a stack lies in the last file noted for it up to that stack. What a file's
// first bytes are tells it from another at the same place. The program's own file is not noted: it stays.
//
// Tools read all of it from outside (observe/descriptor.cc names the fields). A file beyond the room is not
// noted, and the one that it replaces is forgotten.
//
// Invariant: by the number of their first stack. Threads: one at a time notes; any find.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/text.h"
#include "os/code/loaded_code.h"

namespace tarn::internal {

struct CodeModule {
  static constexpr std::size_t kBuildIdBytes = 32;

  std::uint64_t start, end;  // as it was mapped
  std::uint64_t base;        // what is added to the file's addresses
  std::uint64_t check;       // of its first bytes
  const char* path;
  std::uint32_t first_stack;
  std::uint32_t is_gone;
  std::uint32_t build_id_bytes;
  unsigned char build_id[kBuildIdBytes];

  bool has(std::uint64_t address) const { return address - start < end - start; }
};

class CodeModules {
 public:
  static constexpr std::uint32_t kMost = 1024;

  /// Is told of a module that has gone, or come back.
  using Changed = void (*)(const CodeModule& module);

  /// Notes the file that an address of a new stack lies in. \returns it; nullptr: it is not noted.
  const CodeModule* note(std::uint64_t address, std::uint32_t stack, Changed changed);
  /// Looks which of them are still loaded.
  void note_unloaded(Changed changed);

  /// \returns the file that an address of a stack lay in; nullptr: it is not known, or the program's own.
  const CodeModule* find(std::uint32_t stack, std::uint64_t address) const;
  /// The same, when the file has gone.
  const CodeModule* find_gone(std::uint32_t stack, std::uint64_t address) const;

 private:
  friend class ObservedLayout;

  CodeModule* newest(std::uint64_t address) const;
  const CodeModule* add(const os::LoadedCode& code, std::uint32_t stack);
  const char* keep_path(const char* path);

  std::atomic<std::uint32_t> count_{0};
  CodeModule* modules_ = nullptr;
  std::uint64_t own_start_ = 0, own_end_ = 0;  // of the program's own file
  char* text_ = nullptr;
  std::size_t text_bytes_ = 0;  // of text_, used
};

/// Guarded by the lock of new stacks.
extern CodeModules code_modules;

// The files that the process's code lies in now, to tell an address as a file and an offset: the list is made
// when the loader's lock may be taken, and looked at when nothing may. Threads: one makes it; any look later.

struct LoadedModule {
  static constexpr std::size_t kPathBytes = 128;

  std::uintptr_t start, end, base;
  char path[kPathBytes];  // of a longer path, the end
};

/// libtarn.so, libtarn_core.so.0.2
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
