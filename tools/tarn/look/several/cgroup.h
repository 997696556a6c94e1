// A cgroup: its processes, and the memory that the kernel charges to it. Of version 2; of version 1 those of
// the memory controller.
//
// A user may own it, and the words that lead to it may lead elsewhere: files are read with bounds.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "commands/commands.h"

namespace tarn::tool {

using GroupOfProcess = std::map<int, std::string>;  // by number; the path of the innermost one

struct Cgroup {
  GroupOfProcess processes;  // of the groups within it too; the first 4096 that were found
  std::optional<std::uint64_t> memory_bytes, memory_max_bytes;  // nothing: not told; no limit
};

bool is_cgroup(const std::string& path);

/// \param word a path, absolute or below `root`; or the last name of one, as of a unit: for root only where
/// all groups around it are root's. \returns the path
/// \throws observer::ObserveError where there is none, or several
std::string find_cgroup(const std::string& word, const std::string& root = "/sys/fs/cgroup");

/// Adds --cgroup.
AddedOption add_cgroup(CLI::App& command, std::string& word);

/// \throws observer::ObserveError when it is gone
Cgroup read_cgroup(const std::string& path);

/// Whether it is still there. \param group of a GroupOfProcess
bool is_in_group(int pid, const std::string& group);

}  // namespace tarn::tool
