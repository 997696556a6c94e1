// Which allocators a comparison runs on: the system's own, tarn, and those installed on the machine, found
// where Debian puts them or named by path.
#pragma once
#include <string>
#include <vector>

#include "system/files/environment.h"
#include "system/processes/signals.h"

namespace tarn::tool {

struct Allocator {
  std::string name;
  std::string library;                      // empty: the system's allocator, nothing is preloaded
  Settings settings = {};                   // of its environment alone
  std::vector<std::string> arguments = {};  // behind every program's own
  std::string version = {};                 // of what it is; empty: unknown

  bool is_system() const { return library.empty(); }
};

inline constexpr const char* kSystemName = "glibc";
inline constexpr const char* kTarnName = "tarn";

/// What is known about an allocator that Debian packages.
struct KnownAllocator {
  const char* name;
  std::vector<const char*> sonames;  // in the order of preference; a version follows
  const char* debian_package;
};
const std::vector<KnownAllocator>& known_allocators();
/// nullptr if there is none of that name.
const KnownAllocator* find_known(const std::string& name);

using Directories = std::vector<std::string>;
const Directories& library_directories();

/// The path of the newest version installed; empty if there is none.
std::string find_library(const KnownAllocator& known, const Directories& directories);

/// libtarn.so: $TARN_LIBRARY, else beside the tool, else where it is installed. \throws UsageError if it is
/// nowhere
std::string find_tarn_library();
/// libtarn-hardened.so, which lies beside it. \throws UsageError if it does not.
std::string find_hardened_library();

/// What the user chose. An entry of `with` is a name, a path, NAME=PATH, or the word "all" or "none".
struct Selection {
  std::vector<std::string> with;  // empty: all that are installed
  std::vector<std::string> without;
  Settings tarn_settings = {};           // of tarn's environment
  std::vector<Allocator> variants = {};  // tarn once more under other names and settings; no library is named
};

/// The allocators to compare, the system's first, then tarn. \throws UsageError for what is unknown or not
/// there
std::vector<Allocator> select_allocators(const Selection& selection, const Directories& directories);

/// \throws UsageError
void require_distinct_names(const std::vector<Allocator>& allocators);

/// Starts where nothing is preloaded, then has the allocator's library and settings.
/// \why a library that is preloaded already might be an allocator, and "glibc" would not be glibc
Environment environment_on(const Allocator& allocator, Environment environment);

/// The Debian packages of the known allocators that the directories do not hold.
std::vector<std::string> missing_packages(const Directories& directories);

/// Which version is compared: the allocator's own, else that of the Debian package that has its library;
/// empty where dpkg does not know.
std::string version_of(const Allocator& allocator, SignalWatch& signals);

}  // namespace tarn::tool
