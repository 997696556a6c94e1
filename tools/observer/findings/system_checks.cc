// Checks of what the system grants: huge pages, limits, swap, mappings, core files, the right to look.
#include <fmt/format.h>

#include "observer/findings/checks.h"
#include "observer/text/words.h"

namespace tarn::observer {
namespace {

/// From which share of a limit on it is near, and from which it is about to be met.
constexpr double kNear = 0.8, kAtIt = 0.95;

double share_of(std::uint64_t used, std::uint64_t limit) {
  return limit == 0 ? 1 : static_cast<double>(used) / static_cast<double>(limit);
}

Severity severity_at(double share) {
  return share >= kAtIt ? Severity::kBad : share >= kNear ? Severity::kNote : Severity::kOk;
}

std::string used_of(std::uint64_t used, std::uint64_t limit) {
  return fmt::format("{} of {} ({})", bytes_in_words(used), bytes_in_words(limit),
                     percent_in_words(static_cast<double>(used), static_cast<double>(limit)));
}

std::string_view unless_ok(Severity severity, std::string_view advice) {
  return severity == Severity::kOk ? std::string_view() : advice;
}

constexpr std::int64_t kHugeNever = 0, kHugeAlways = 2;  // of option huge_pages
constexpr std::int64_t kHugeAuto = 1;

Finding thp_off_but_wanted(std::string_view why) {
  return {"thp", Severity::kNote, 0,
          fmt::format("option huge_pages:always asks for 2 MiB pages, but {}", why),
          "Set /sys/kernel/mm/transparent_hugepage/enabled to madvise, or huge_pages:auto."};
}

/// \why the first thread that writes waits while the kernel frees and moves pages
bool does_defrag_stall(const SystemFacts& system) { return system.thp_defrag == "always"; }

bool starts_with_pipe(const std::string& pattern) { return pattern.starts_with('|'); }

constexpr std::uint64_t kAnonymousPrivate = 1;  // bit 0 of the core filter

}  // namespace

void check_thp(const Evidence& evidence, Findings& findings) {
  const SystemFacts& system = evidence.system;
  if (system.thp_enabled.empty()) return;
  const std::int64_t option = evidence.snapshot.option("huge_pages", kHugeAuto);
  const bool is_off_here = system.is_thp_enabled == false;
  if (option == kHugeAlways && (system.thp_enabled == "never" || is_off_here)) {
    findings.push_back(thp_off_but_wanted(is_off_here ? "the process has them off (prctl PR_SET_THP_DISABLE)"
                                                      : "the system has them off"));
  } else if (system.thp_enabled == "always" && !is_off_here) {
    const std::uint64_t huge = evidence.residency == nullptr ? 0 : evidence.residency->huge_bytes();
    findings.push_back(
        {"thp", Severity::kNote, huge,
         fmt::format("transparent huge pages are on for all memory; {} of this process are in them",
                     bytes_in_words(huge)),
         option == kHugeNever
             ? "huge_pages:never does not keep the kernel from them: set "
               "/sys/kernel/mm/transparent_hugepage/enabled to madvise."
             : "Set /sys/kernel/mm/transparent_hugepage/enabled to madvise: tarn then asks for them "
               "where they pay, and stacks and other memory do not grow."});
  } else {
    findings.push_back({"thp", Severity::kOk, 0,
                        fmt::format("transparent huge pages: {}{}", system.thp_enabled,
                                    is_off_here ? ", off for this process" : ""),
                        ""});
  }
  if (does_defrag_stall(system) && system.thp_enabled != "never" && !is_off_here)
    findings.push_back(
        {"thp_defrag", Severity::kNote, 0,
         "a thread that touches a new huge page waits while the kernel makes room (defrag: always)",
         "Set /sys/kernel/mm/transparent_hugepage/defrag to madvise or defer+madvise."});
}

void check_control_group(const Evidence& evidence, Findings& findings) {
  const SystemFacts& system = evidence.system;
  if (!system.group_limit_bytes || !system.group_used_bytes) return;
  const Severity severity = severity_at(share_of(*system.group_used_bytes, *system.group_limit_bytes));
  std::string what = fmt::format("control group {} uses {}", system.control_group,
                                 used_of(*system.group_used_bytes, *system.group_limit_bytes));
  if (system.rss_bytes) what += fmt::format("; this process {}", bytes_in_words(*system.rss_bytes));
  findings.push_back({"control_group", severity, *system.group_used_bytes, what,
                      std::string(unless_ok(severity,
                                            "At the limit the kernel kills. Set tarn's soft_limit and "
                                            "hard_limit below it, so that the program is told first."))});
}

void check_address_space(const Evidence& evidence, Findings& findings) {
  const SystemFacts& system = evidence.system;
  if (!system.address_space_limit || !system.address_space_bytes) return;
  if (*system.address_space_limit == kUnlimited) {
    findings.push_back({"address_space", Severity::kOk, 0, "address space is not limited", ""});
    return;
  }
  const Severity severity = severity_at(share_of(*system.address_space_bytes, *system.address_space_limit));
  findings.push_back({"address_space", severity, *system.address_space_bytes,
                      "address space: " + used_of(*system.address_space_bytes, *system.address_space_limit),
                      std::string(unless_ok(severity,
                                            "Raise `ulimit -v`, or lower option reserve: addresses that tarn "
                                            "takes ahead of need count too."))});
}

void check_overcommit(const Evidence& evidence, Findings& findings) {
  constexpr int kNeverOvercommit = 2;
  const SystemFacts& system = evidence.system;
  if (!system.overcommit) return;
  if (*system.overcommit != kNeverOvercommit || !system.commit_limit_bytes || !system.committed_bytes) {
    findings.push_back(
        {"overcommit", Severity::kOk, 0,
         fmt::format("overcommit_memory is {}: memory is refused only when it runs out", *system.overcommit),
         ""});
    return;
  }
  const Severity severity = severity_at(share_of(*system.committed_bytes, *system.commit_limit_bytes));
  findings.push_back({"overcommit", severity, *system.committed_bytes,
                      "overcommit_memory is 2, and promised are " +
                          used_of(*system.committed_bytes, *system.commit_limit_bytes),
                      std::string(unless_ok(severity,
                                            "Raise vm.overcommit_ratio, add swap, or set "
                                            "vm.overcommit_memory to 0."))});
}

void check_swap(const Evidence& evidence, Findings& findings) {
  const SystemFacts& system = evidence.system;
  if (!system.swap_bytes) return;
  constexpr std::uint64_t kMuch = 64 * kMiB, kSome = kMiB;
  const std::uint64_t swapped = *system.swap_bytes;
  const bool is_large_share = system.rss_bytes && swapped >= *system.rss_bytes / 10;
  const Severity severity = swapped >= kMuch && is_large_share ? Severity::kBad
                            : swapped >= kSome                 ? Severity::kNote
                                                               : Severity::kOk;
  findings.push_back({"swap", severity, swapped, fmt::format("{} are swapped out", bytes_in_words(swapped)),
                      std::string(unless_ok(severity,
                                            "Calls that meet such pages wait for the disk. Give the machine "
                                            "memory, or the process a soft_limit."))});
}

void check_mappings(const Evidence& evidence, Findings& findings) {
  const SystemFacts& system = evidence.system;
  if (!system.mapping_count || !system.max_map_count) return;
  const Severity severity = severity_at(share_of(*system.mapping_count, *system.max_map_count));
  findings.push_back({"mappings", severity, 0,
                      fmt::format("{} of at most {} mappings", count_in_words(*system.mapping_count),
                                  count_in_words(*system.max_map_count)),
                      std::string(unless_ok(severity,
                                            "Raise vm.max_map_count (sysctl): beyond it mmap and thread "
                                            "creation fail."))});
}

void check_core_files(const Evidence& evidence, Findings& findings) {
  const SystemFacts& system = evidence.system;
  if (!system.core_size_limit || !system.coredump_filter) return;
  const bool is_piped = system.core_pattern && starts_with_pipe(*system.core_pattern);
  if ((*system.coredump_filter & kAnonymousPrivate) == 0)
    findings.push_back(
        {"core_files", Severity::kNote, 0,
         fmt::format("core files leave out private memory (coredump_filter {:#x})", *system.coredump_filter),
         "`tarn top --core` needs it: echo 0x33 > /proc/PID/coredump_filter."});
  else if (*system.core_size_limit == 0 && !is_piped)
    findings.push_back({"core_files", Severity::kNote, 0, "a crash leaves no core file (ulimit -c 0)",
                        "Set `ulimit -c unlimited` (LimitCORE=infinity) to look at a crash with --core."});
  else if (*system.core_size_limit != kUnlimited && !is_piped && system.rss_bytes &&
           *system.core_size_limit < *system.rss_bytes)
    findings.push_back(
        {"core_files", Severity::kNote, *system.core_size_limit,
         fmt::format("core files end at {}, the process has {}", bytes_in_words(*system.core_size_limit),
                     bytes_in_words(*system.rss_bytes)),
         "Raise `ulimit -c`: a cut core file lacks what the views read."});
  else
    findings.push_back(
        {"core_files", Severity::kOk, 0,
         fmt::format("core files hold what the views need{}",
                     system.core_pattern ? fmt::format(" (core_pattern {})", *system.core_pattern) : ""),
         ""});
}

void check_ptrace_scope(const Evidence& evidence, Findings& findings) {
  constexpr int kAttachNobody = 3;
  if (!evidence.system.ptrace_scope) return;
  const int scope = *evidence.system.ptrace_scope;
  if (scope == 0) {
    findings.push_back({"ptrace_scope", Severity::kOk, 0, "ptrace_scope is 0: the same user may look", ""});
    return;
  }
  findings.push_back({"ptrace_scope", Severity::kNote, 0,
                      fmt::format("ptrace_scope is {}: {}", scope,
                                  scope >= kAttachNobody ? "nobody may look at processes"
                                                         : "only root and parents may look"),
                      scope >= kAttachNobody ? "It stays so until the next boot."
                                             : "Run tarn as root, or start the program with observe:owner."});
}

}  // namespace tarn::observer
