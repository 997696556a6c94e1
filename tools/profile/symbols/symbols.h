// The addresses of a heap profile in words: functions, files and lines.
//
// The idea: each distinct address is looked up once, file by file. What lies on the stack is where a call
// returns to: the call itself is one byte before. A file is believed only if its build id is the one in
// memory; where it is gone, the process's memory tells what it exports. Without a name there is
// "module+0xoffset", without a module "0x...".
//
// Files are another program's, and so is what reads them a process of its own (reader_process.h): it may
// wait forever for a file system, fall over what is in a file, or need all memory.
//
// Threads: constant once made; any.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "observer/files/input_file.h"
#include "profile/files/debug_file.h"
#include "profile/files/frame.h"
#include "profile/symbols/heap_profile.h"

namespace tarn::profile {

/// Reads a program's memory. \returns how many bytes there were.
using ReadMemory = std::function<std::size_t(std::uint64_t address, void* into, std::size_t bytes)>;

/// What the kernel adds to the path of a file that is gone.
inline constexpr std::string_view kDeleted = " (deleted)";

/// Where names are looked for.
struct SymbolPlaces {
  DebugPlaces files;
  /// Opens what is mapped at a range of addresses, also where the file is gone. Empty: nothing is.
  std::function<observer::InputFile(std::uint64_t start, std::uint64_t end)> open_mapping = {};
  ReadMemory read_memory = {};  // empty: there is none
  /// Opens the names of code that the program has made itself. Empty: there are none.
  std::function<observer::InputFile()> open_jit_names = {};
};

/// Files as this tool sees them: those of a core file, or of nothing that runs.
SymbolPlaces places_of_core();

/// Called with the number of addresses that are done.
using Progress = std::function<void(std::size_t done, std::size_t of)>;

class Symbols {
 public:
  /// Looks all of a profile's addresses up.
  Symbols(const HeapProfile& profile, const SymbolPlaces& places, const Progress& progress = {});

  /// \pre the address is one of the profile's.
  const Location& at(std::uint64_t address) const { return locations_.at(address); }
  /// Of frames that have a function.
  void set_roles(const std::function<FrameRole(const Frame&)>& role_of);
  /// Files that could not be believed, a line each; printable.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  std::unordered_map<std::uint64_t, Location> locations_;
  std::vector<std::string> warnings_;
};

/// The last part of a path, " (deleted)" left out; printable.
std::string module_name(const std::string& path);

}  // namespace tarn::profile
