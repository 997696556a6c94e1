// The addresses of a heap profile in words: functions, files and lines.
//
// The idea: each distinct address is looked up once, file by file, so that only one file's debug information
// is in memory at a time. What lies on the stack is where a call returns to: the call itself is one byte
// before. A file is believed only if its build id is the one in memory; without a file there is
// "module+0xoffset", without a module "0x...".
//
// Threads: constant once made; any.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "frame.h"
#include "heap_profile.h"

namespace tarn::profile {

/// Where files are looked for.
struct SymbolPlaces {
  /// What stands before each path: "/proc/PID/root" of a process, whose files may be in another mount
  /// namespace; "" of a core file.
  std::string root;
  /// Tried in this order, without `root`.
  std::vector<std::string> debug_directories = {"/usr/lib/debug"};
};
SymbolPlaces places_of_process(int pid);
SymbolPlaces places_of_core();

/// Called with the number of addresses that are done.
using Progress = std::function<void(std::size_t done, std::size_t of)>;

class Symbols {
 public:
  /// Looks all of a profile's addresses up.
  Symbols(const HeapProfile& profile, const SymbolPlaces& places, const Progress& progress = {});

  /// \pre the address is one of the profile's.
  const Location& at(std::uint64_t address) const { return locations_.at(address); }
  /// Files that could not be believed, a line each; printable.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  /// The addresses of one file, by the module in which they lie.
  using AddressesByModule = std::map<std::size_t, std::vector<std::uint64_t>>;

  void look_up_file(const HeapProfile& profile, const AddressesByModule& addresses,
                    const SymbolPlaces& places);

  std::unordered_map<std::uint64_t, Location> locations_;
  std::vector<std::string> warnings_;
};

/// The last part of a path, " (deleted)" left out; printable.
std::string module_name(const std::string& path);

}  // namespace tarn::profile
