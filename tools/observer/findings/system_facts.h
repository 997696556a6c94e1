// What the system tells of a process and of itself: limits, huge pages, control group, swap, core files. Read
// once from /proc and /sys, then plain data for findings.h.
//
// Invariant: what could not be read is absent; nothing is guessed.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace tarn::observer {

inline constexpr std::uint64_t kUnlimited = UINT64_MAX;

struct SystemFacts {
  // The process
  std::optional<std::uint64_t> rss_bytes, swap_bytes, address_space_bytes, mapping_count;
  std::optional<std::uint64_t> address_space_limit, core_size_limit;  // kUnlimited: none
  std::optional<std::uint64_t> coredump_filter;                       // bits, as core(5) has them
  std::optional<bool> is_thp_enabled;                                 // by the process for itself
  // Its control group, or the tightest of those around it
  std::string control_group;
  std::optional<std::uint64_t> group_limit_bytes, group_used_bytes;
  // The system
  std::string thp_enabled, thp_defrag;  // the chosen word: "always", "madvise", "never", ...
  std::optional<int> overcommit;        // 0 guess, 1 always, 2 never
  std::optional<std::uint64_t> commit_limit_bytes, committed_bytes;
  std::optional<std::uint64_t> max_map_count;
  std::optional<std::string> core_pattern;
  std::optional<int> ptrace_scope;
};

/// \param process its directory in /proc. \param root where /proc and /sys are; tests have their own
SystemFacts read_system_facts(const std::filesystem::path& process, const std::filesystem::path& root = "/");

}  // namespace tarn::observer
