// Where the debug information of a stripped file is: by its build id in directories of debug files, by the
// name that the file has for it (.gnu_debuglink), or from a server (debuginfod) that the user has named.
//
// A file is believed only if its build id, or without one its checksum, is the right one.
// Threads: any.
#pragma once
#include <elfutils/libdwfl.h>

#include <functional>
#include <string>
#include <vector>

#include "observer/files/input_file.h"

namespace tarn::profile {

struct DebugPlaces {
  /// Opens a regular file as the program sees it.
  std::function<observer::InputFile(const std::string& path)> open;
  /// Tried in this order, by `open` and then as this tool sees them.
  std::vector<std::string> directories = {"/usr/lib/debug"};
};

/// As libdwfl calls it. \pre the module's user data are DebugPlaces
int find_debug_file(Dwfl_Module* module, void** places, const char* name, Dwarf_Addr base, const char* path,
                    const char* link, GElf_Word link_checksum, char** found_path);

/// As bytes; "" = none.
std::string build_id_of(Elf* elf);

}  // namespace tarn::profile
