#include "look/several/cgroup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
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

bool is_cgroup(const std::string& path) {
  return observer::open_regular_file(path + "/cgroup.procs").is_open();
}

/// Calls it with the directory and those within it, as far as these can be read, until it returns false.
void for_each_group(const std::string& path, const std::function<bool(const fs::path&)>& visit) {
  if (!visit(path)) return;
  std::error_code error;
  fs::recursive_directory_iterator entry(path, fs::directory_options::skip_permission_denied, error);
  for (std::size_t groups = 1; !error && entry != fs::end(entry); entry.increment(error)) {
    std::error_code gone;
    if (!entry->is_directory(gone) || entry->is_symlink(gone)) continue;
    if (++groups > kMostGroups || !visit(entry->path())) return;
  }
}

void add_processes(const std::string& group, std::vector<int>& processes) {
  const std::string text = text_of_file(group + "/cgroup.procs");
  std::string_view rest = text, line;
  while (processes.size() < kMostProcesses && observer::take_line(rest, line))
    if (const std::uint64_t pid = observer::number_in(line); pid != 0 && pid <= INT_MAX)
      processes.push_back(static_cast<int>(pid));
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

std::vector<std::string> groups_named(const std::string& name, const std::string& hierarchy) {
  std::vector<std::string> found;
  for_each_group(hierarchy, [&](const fs::path& path) {
    if (path.filename() == name && is_cgroup(path)) found.push_back(path);
    return true;
  });
  return found;
}

}  // namespace

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
  std::ranges::sort(cgroup.processes);
  cgroup.processes.erase(std::unique(cgroup.processes.begin(), cgroup.processes.end()),
                         cgroup.processes.end());
  cgroup.memory_bytes = number_of(path, "current", "usage_in_bytes");
  cgroup.memory_max_bytes = number_of(path, "max", "limit_in_bytes");
  if (cgroup.memory_max_bytes >= kNoLimitOfVersion1) cgroup.memory_max_bytes.reset();
  return cgroup;
}

}  // namespace tarn::tool
