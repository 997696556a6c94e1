// Reads small files of /proc and /sys, line by line.
#include "observer/findings/system_facts.h"

#include <charconv>
#include <fstream>
#include <string_view>
#include <vector>

#include "observer/text/printable.h"

namespace tarn::observer {
namespace {

using Path = std::filesystem::path;

std::vector<std::string> lines_of(const Path& file) {
  std::vector<std::string> lines;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::optional<std::string> first_line_of(const Path& file) {
  std::ifstream stream(file);
  std::string line;
  if (!std::getline(stream, line)) return std::nullopt;
  return line;
}

std::optional<std::uint64_t> number_in(std::string_view text, int base = 10) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{} || end == text.data()) return std::nullopt;
  return number;
}

std::optional<std::uint64_t> number_in_file(const Path& file, int base = 10) {
  const auto line = first_line_of(file);
  return line ? number_in(*line, base) : std::nullopt;
}

/// The figure of a line "Key:   123 kB".
std::optional<std::uint64_t> figure_of(const std::vector<std::string>& lines, std::string_view key) {
  for (const std::string& line : lines)
    if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ':')
      return number_in(std::string_view(line).substr(key.size() + 1));
  return std::nullopt;
}

std::optional<std::uint64_t> kib_of(const std::vector<std::string>& lines, std::string_view key) {
  const auto kib = figure_of(lines, key);
  return kib ? std::optional(*kib * 1024) : std::nullopt;
}

/// The word in brackets of "always [madvise] never".
std::string chosen_word(const Path& file) {
  const std::string line = first_line_of(file).value_or("");
  const std::size_t open = line.find('['), close = line.find(']');
  return open == std::string::npos || close < open ? "" : line.substr(open + 1, close - open - 1);
}

/// The soft limit of a line of /proc/PID/limits.
std::optional<std::uint64_t> limit_of(const std::vector<std::string>& lines, std::string_view title) {
  for (const std::string& line : lines) {
    if (!line.starts_with(title)) continue;
    std::string_view rest = std::string_view(line).substr(title.size());
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    return rest.starts_with("unlimited") ? std::optional(kUnlimited) : number_in(rest);
  }
  return std::nullopt;
}

void read_process(const Path& process, SystemFacts& facts) {
  const auto status = lines_of(process / "status");
  facts.rss_bytes = kib_of(status, "VmRSS");
  facts.swap_bytes = kib_of(status, "VmSwap");
  facts.address_space_bytes = kib_of(status, "VmSize");
  if (const auto enabled = figure_of(status, "THP_enabled")) facts.is_thp_enabled = *enabled != 0;
  const auto limits = lines_of(process / "limits");
  facts.address_space_limit = limit_of(limits, "Max address space");
  facts.core_size_limit = limit_of(limits, "Max core file size");
  facts.coredump_filter = number_in_file(process / "coredump_filter", 16);
  if (const auto maps = lines_of(process / "maps"); !maps.empty()) facts.mapping_count = maps.size();
}

struct GroupFiles {
  Path top, own;  // of the hierarchy; of the process
  const char* limit;
  const char* used;
};

/// Version 2 has one line "0::/path"; version 1 a line with the controller's name.
std::optional<GroupFiles> group_files_of(const Path& process, const Path& root) {
  std::optional<GroupFiles> found;
  for (const std::string& line : lines_of(process / "cgroup")) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    const std::string below = path.starts_with("/") ? path.substr(1) : path;
    if (controllers == "memory") {
      const Path top = root / "sys/fs/cgroup/memory";
      return GroupFiles{top, top / below, "memory.limit_in_bytes", "memory.usage_in_bytes"};
    }
    if (controllers.empty()) {
      const Path top = root / "sys/fs/cgroup";
      found = GroupFiles{top, top / below, "memory.max", "memory.current"};
    }
  }
  return found;
}

/// Version 1 writes "no limit" as a number near the largest.
bool is_limit(std::uint64_t bytes) { return bytes < std::uint64_t{1} << 60; }

/// The group with the least left below its limit: a limit of one around it holds too.
void read_group(const GroupFiles& files, SystemFacts& facts) {
  std::uint64_t least_left = kUnlimited;
  for (Path group = files.own;; group = group.parent_path()) {
    const auto limit = number_in_file(group / files.limit), used = number_in_file(group / files.used);
    if (limit && used && is_limit(*limit)) {
      const std::uint64_t left = *limit > *used ? *limit - *used : 0;
      if (left < least_left) {
        least_left = left;
        facts.group_limit_bytes = limit;
        facts.group_used_bytes = used;
        facts.control_group = "/" + printable(group.lexically_relative(files.top).generic_string());
        if (facts.control_group == "/.") facts.control_group = "/";
      }
    }
    if (group == files.top || group == group.parent_path()) return;
  }
}

void read_system(const Path& root, SystemFacts& facts) {
  facts.thp_enabled = chosen_word(root / "sys/kernel/mm/transparent_hugepage/enabled");
  facts.thp_defrag = chosen_word(root / "sys/kernel/mm/transparent_hugepage/defrag");
  const Path settings = root / "proc/sys";
  if (const auto overcommit = number_in_file(settings / "vm/overcommit_memory"))
    facts.overcommit = static_cast<int>(*overcommit);
  if (const auto scope = number_in_file(settings / "kernel/yama/ptrace_scope"))
    facts.ptrace_scope = static_cast<int>(*scope);
  facts.max_map_count = number_in_file(settings / "vm/max_map_count");
  facts.core_pattern = first_line_of(settings / "kernel/core_pattern");
  const auto memory = lines_of(root / "proc/meminfo");
  facts.commit_limit_bytes = kib_of(memory, "CommitLimit");
  facts.committed_bytes = kib_of(memory, "Committed_AS");
}

}  // namespace

SystemFacts read_system_facts(const Path& process, const Path& root) {
  SystemFacts facts;
  read_process(process, facts);
  if (const auto files = group_files_of(process, root)) read_group(*files, facts);
  read_system(root, facts);
  return facts;
}

}  // namespace tarn::observer
