#include "observer/findings/system_facts.h"

#include <algorithm>
#include <string_view>

#include "observer/files/kernel_text.h"
#include "observer/text/printable.h"

namespace tarn::observer {
namespace {

using Path = std::filesystem::path;

std::string text_of(const Path& file) { return read_kernel_text(file).value_or(""); }

std::optional<std::uint64_t> number_in_file(const Path& file, int base = 10) {
  return known_number_in(text_of(file), base);
}

/// The soft limit of a line of /proc/PID/limits.
std::optional<std::uint64_t> limit_of(std::string_view limits, std::string_view title) {
  const std::string_view limit = field_of(limits, title);
  return limit.starts_with("unlimited") ? std::optional(kUnlimited) : known_number_in(limit);
}

void read_process(const Path& process, SystemFacts& facts) {
  const std::string status = text_of(process / "status"), limits = text_of(process / "limits");
  facts.rss_bytes = known_bytes_of(status, "VmRSS:");
  facts.swap_bytes = known_bytes_of(status, "VmSwap:");
  facts.address_space_bytes = known_bytes_of(status, "VmSize:");
  if (const auto enabled = known_number_in(field_of(status, "THP_enabled:")))
    facts.is_thp_enabled = *enabled != 0;
  facts.address_space_limit = limit_of(limits, "Max address space");
  facts.core_size_limit = limit_of(limits, "Max core file size");
  facts.coredump_filter = number_in_file(process / "coredump_filter", 16);
  const std::string maps = text_of(process / "maps");
  if (const auto lines = std::ranges::count(maps, '\n'); lines != 0)
    facts.mapping_count = static_cast<std::uint64_t>(lines);
}

struct GroupFiles {
  Path top, own;  // of the hierarchy; of the process
  const char* limit;
  const char* used;
};

/// Version 2 has one line "0::/path"; version 1 a line with the controller's name.
std::optional<GroupFiles> group_files_of(const Path& process, const Path& root) {
  std::optional<GroupFiles> found;
  const std::string groups = text_of(process / "cgroup");
  for (std::string_view rest = groups, line; take_line(rest, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string_view path = line.substr(second + 1);
    const std::string_view below = path.starts_with("/") ? path.substr(1) : path;
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
  facts.thp_enabled = chosen_word(text_of(root / "sys/kernel/mm/transparent_hugepage/enabled"));
  facts.thp_defrag = chosen_word(text_of(root / "sys/kernel/mm/transparent_hugepage/defrag"));
  const Path settings = root / "proc/sys";
  if (const auto overcommit = number_in_file(settings / "vm/overcommit_memory"))
    facts.overcommit = static_cast<int>(*overcommit);
  if (const auto scope = number_in_file(settings / "kernel/yama/ptrace_scope"))
    facts.ptrace_scope = static_cast<int>(*scope);
  facts.max_map_count = number_in_file(settings / "vm/max_map_count");
  facts.core_pattern = first_line_of(settings / "kernel/core_pattern");
  const std::string memory = text_of(root / "proc/meminfo");
  facts.commit_limit_bytes = known_bytes_of(memory, "CommitLimit:");
  facts.committed_bytes = known_bytes_of(memory, "Committed_AS:");
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
