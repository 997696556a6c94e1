#include "look/several/cgroup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <filesystem>
#include <functional>

#include "observer/files/input_file.h"
#include "observer/files/kernel_text.h"
#include "observer/process/source.h"

namespace tarn::tool {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostGroups = 10'000, kMostProcesses = 4096, kMostFileBytes = 64 << 10;
constexpr std::uint64_t kNoLimitOfVersion1 = std::uint64_t{1} << 62;

/// The first bytes of one; "" without it.
std::string text_of_file(const std::string& path) {
  const observer::InputFile file = observer::open_regular_file(path);
  std::string text(kMostFileBytes, '\0');
  text.resize(file.is_open() ? file.read(0, text.data(), text.size()) : 0);
  return text;
}

/// Calls it with the directory and those within it, the highest first, as far as these can be read. Goes into
/// those of which it returns true.
void for_each_group(const std::string& path, const std::function<bool(const fs::path&)>& visit) {
  std::vector<fs::path> groups = {path};
  for (std::size_t next = 0; next < groups.size(); ++next) {
    if (!visit(groups[next])) continue;
    std::error_code error, gone;
    fs::directory_iterator entry(groups[next], error);
    for (; !error && entry != fs::end(entry) && groups.size() < kMostGroups; entry.increment(error))
      if (entry->is_directory(gone) && !entry->is_symlink(gone)) groups.push_back(entry->path());
  }
}

void add_processes(const std::string& group, GroupOfProcess& processes) {
  const std::string text = text_of_file(group + "/cgroup.procs");
  std::string_view rest = text, line;
  while (processes.size() < kMostProcesses && observer::take_line(rest, line))
    if (const std::uint64_t pid = observer::number_in(line); pid != 0 && pid <= INT_MAX)
      processes.emplace(static_cast<int>(pid), group);
}

/// The number in the first of these files that is there. \param version_1 its name there
std::optional<std::uint64_t> number_of(const std::string& path, const char* name, const char* version_1) {
  const auto number = observer::known_number_in(text_of_file(fmt::format("{}/memory.{}", path, name)));
  return number ? number
                : observer::known_number_in(text_of_file(fmt::format("{}/memory.{}", path, version_1)));
}

/// Version 2 has one; version 1 has one of the memory, and one of version 2 beside it may have more groups.
std::vector<std::string> hierarchies_of(const std::string& root) {
  if (is_cgroup(root)) return {root};
  return {root + "/memory", root + "/unified"};
}

/// \why whom a group belongs to chooses the names within: root must not take what a user has called so
bool may_name_groups(const fs::path& path) {
  struct stat status;
  return geteuid() != 0 || (stat(path.c_str(), &status) == 0 && status.st_uid == 0);
}

std::vector<std::string> groups_named(const std::string& name, const std::string& hierarchy) {
  std::vector<std::string> found;
  for_each_group(hierarchy, [&](const fs::path& path) {
    if (path.filename() == name && is_cgroup(path)) found.push_back(path);
    return may_name_groups(path);
  });
  return found;
}

}  // namespace

bool is_cgroup(const std::string& path) {
  return observer::open_regular_file(path + "/cgroup.procs").is_open();
}

std::string find_cgroup(const std::string& word, const std::string& root) {
  if (word.starts_with('/') && is_cgroup(word)) return word;
  for (const std::string& place : {root, root + "/memory", root + "/unified"})
    if (const std::string path = place + "/" + word; is_cgroup(path)) return path;
  for (const std::string& hierarchy : hierarchies_of(root)) {
    const std::vector<std::string> named = groups_named(word, hierarchy);
    if (named.size() == 1) return named.front();
    if (named.size() > 1)
      throw observer::ObserveError(fmt::format("{} cgroups are named '{}': take one of {} ...", named.size(),
                                               word, fmt::join(named.begin(), named.begin() + 2, ", ")));
  }
  throw observer::ObserveError(fmt::format("there is no cgroup '{}' below {}", word, root));
}

AddedOption add_cgroup(CLI::App& command, std::string& word) {
  return add_value(
      command, "--cgroup PATH|UNIT", word,
      "All processes of a cgroup that run on tarn, as they come and go: system.slice/redis.service, "
      "redis.service, or a directory");
}

Cgroup read_cgroup(const std::string& path) {
  if (!is_cgroup(path)) throw observer::ObserveError(fmt::format("the cgroup {} is gone", path));
  Cgroup cgroup;
  for_each_group(path, [&](const fs::path& group) {
    add_processes(group, cgroup.processes);
    return cgroup.processes.size() < kMostProcesses;
  });
  cgroup.memory_bytes = number_of(path, "current", "usage_in_bytes");
  cgroup.memory_max_bytes = number_of(path, "max", "limit_in_bytes");
  if (cgroup.memory_max_bytes >= kNoLimitOfVersion1) cgroup.memory_max_bytes.reset();
  return cgroup;
}

bool is_in_group(int pid, const std::string& group) {
  GroupOfProcess processes;
  add_processes(group, processes);
  return processes.contains(pid);
}

}  // namespace tarn::tool
