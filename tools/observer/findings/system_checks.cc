// Checks of what the system grants: limits, swap, mappings, huge pages, core files, the right to look; and of
// what is switched on.
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

constexpr std::int64_t kHugeNever = 0, kHugeAlways = 2;  // of option huge_pages
constexpr std::int64_t kHugeAuto = 1;

/// \why the first thread that writes waits while the kernel frees and moves pages
bool does_defrag_stall(const SystemFacts& system) { return system.thp_defrag == "always"; }

bool starts_with_pipe(const std::string& pattern) { return pattern.starts_with('|'); }

constexpr std::uint64_t kAnonymousPrivate = 1;  // bit 0 of the core filter

void check_thp(const Evidence& evidence, Findings& findings) {
  const SystemFacts& system = evidence.system;
  if (system.thp_enabled.empty()) return;
  const std::int64_t option = evidence.snapshot.option("huge_pages", kHugeAuto);
  const bool is_off_here = system.is_thp_enabled == false;
  if (option == kHugeAlways && (system.thp_enabled == "never" || is_off_here)) {
    findings.add_note(
        "thp",
        fmt::format("option huge_pages:always asks for 2 MiB pages, but the {} has them off{}",
                    is_off_here ? "process" : "system", is_off_here ? " (prctl PR_SET_THP_DISABLE)" : ""),
        "Set /sys/kernel/mm/transparent_hugepage/enabled to madvise, or huge_pages:auto.");
  } else if (system.thp_enabled == "always" && !is_off_here) {
    const std::uint64_t huge = evidence.residency == nullptr ? 0 : evidence.residency->huge_bytes();
    findings.add("thp", Severity::kNote, huge,
                 fmt::format("transparent huge pages are on for all memory; {} of this process are in them",
                             bytes_in_words(huge)),
                 option == kHugeNever
                     ? "huge_pages:never does not keep the kernel from them: set "
                       "/sys/kernel/mm/transparent_hugepage/enabled to madvise."
                     : "Set /sys/kernel/mm/transparent_hugepage/enabled to madvise: tarn then asks for them "
                       "where they pay, and stacks and other memory do not grow.");
  } else {
    findings.add_fine("thp", fmt::format("transparent huge pages: {}{}", system.thp_enabled,
                                         is_off_here ? ", off for this process" : ""));
  }
  if (does_defrag_stall(system) && system.thp_enabled != "never" && !is_off_here)
    findings.add_note(
        "thp_defrag",
        "a thread that touches a new huge page waits while the kernel makes room (defrag: always)",
        "Set /sys/kernel/mm/transparent_hugepage/defrag to madvise or defer+madvise.");
}

void check_control_group(const Evidence& evidence, Findings& findings) {
  const SystemFacts& system = evidence.system;
  if (!system.group_limit_bytes || !system.group_used_bytes) return;
  const Severity severity = severity_at(share_of(*system.group_used_bytes, *system.group_limit_bytes));
  std::string what = fmt::format("control group {} uses {}", system.control_group,
                                 used_of(*system.group_used_bytes, *system.group_limit_bytes));
  if (system.rss_bytes) what += fmt::format("; this process {}", bytes_in_words(*system.rss_bytes));
  findings.add("control_group", severity, *system.group_used_bytes, what,
               "At the limit the kernel kills. Set tarn's soft_limit and hard_limit below it, so that the "
               "program is told first.");
}

void check_address_space(const Evidence& evidence, Findings& findings) {
  const SystemFacts& system = evidence.system;
  if (!system.address_space_limit || !system.address_space_bytes) return;
  if (*system.address_space_limit == kUnlimited)
    return findings.add_fine("address_space", "address space is not limited");
  findings.add(
      "address_space", severity_at(share_of(*system.address_space_bytes, *system.address_space_limit)),
      *system.address_space_bytes,
      "address space: " + used_of(*system.address_space_bytes, *system.address_space_limit),
      "Raise `ulimit -v`, or lower option reserve: addresses that tarn takes ahead of need count too.");
}

void check_overcommit(const Evidence& evidence, Findings& findings) {
  constexpr int kNeverOvercommit = 2;
  const SystemFacts& system = evidence.system;
  if (!system.overcommit) return;
  if (*system.overcommit != kNeverOvercommit || !system.commit_limit_bytes || !system.committed_bytes)
    return findings.add_fine(
        "overcommit",
        fmt::format("overcommit_memory is {}: memory is refused only when it runs out", *system.overcommit));
  findings.add("overcommit", severity_at(share_of(*system.committed_bytes, *system.commit_limit_bytes)),
               *system.committed_bytes,
               "overcommit_memory is 2, and promised are " +
                   used_of(*system.committed_bytes, *system.commit_limit_bytes),
               "Raise vm.overcommit_ratio, add swap, or set vm.overcommit_memory to 0.");
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
  findings.add(
      "swap", severity, swapped, fmt::format("{} are swapped out", bytes_in_words(swapped)),
      "Calls that meet such pages wait for the disk. Give the machine memory, or the process a soft_limit.");
}

void check_mappings(const Evidence& evidence, Findings& findings) {
  const SystemFacts& system = evidence.system;
  if (!system.mapping_count || !system.max_map_count) return;
  findings.add("mappings", severity_at(share_of(*system.mapping_count, *system.max_map_count)), 0,
               fmt::format("{} of at most {} mappings", count_in_words(*system.mapping_count),
                           count_in_words(*system.max_map_count)),
               "Raise vm.max_map_count (sysctl): beyond it mmap and thread creation fail.");
}

void check_watches(const Evidence& evidence, Findings& findings) {
  const std::vector<Watch> watches = watches_of(evidence.watched, evidence.snapshot);
  for (const Watch& watch : watches)
    findings.add_note(watch.is_option() ? "costly_option" : "watched", watch.text(),
                      watch.is_option() ? "Start the program without it unless you search for a fault."
                      : watch.by == "a tool"
                          ? "It ends with the tool, some seconds later where that is killed."
                          : "Switch it off where nobody reads what it finds.");
  if (watches.empty()) findings.add_fine("costly_option", "no option is on that costs time");
}

void check_core_files(const Evidence& evidence, Findings& findings) {
  const SystemFacts& system = evidence.system;
  if (!system.core_size_limit || !system.coredump_filter) return;
  const bool is_piped = system.core_pattern && starts_with_pipe(*system.core_pattern);
  if ((*system.coredump_filter & kAnonymousPrivate) == 0)
    findings.add_note(
        "core_files",
        fmt::format("core files leave out private memory (coredump_filter {:#x})", *system.coredump_filter),
        "`tarn top --core` needs it: echo 0x33 > /proc/PID/coredump_filter.");
  else if (*system.core_size_limit == 0 && !is_piped)
    findings.add_note("core_files", "a crash leaves no core file (ulimit -c 0)",
                      "Set `ulimit -c unlimited` (LimitCORE=infinity) to look at a crash with --core.");
  else if (*system.core_size_limit != kUnlimited && !is_piped && system.rss_bytes &&
           *system.core_size_limit < *system.rss_bytes)
    findings.add("core_files", Severity::kNote, *system.core_size_limit,
                 fmt::format("core files end at {}, the process has {}",
                             bytes_in_words(*system.core_size_limit), bytes_in_words(*system.rss_bytes)),
                 "Raise `ulimit -c`: a cut core file lacks what the views read.");
  else
    findings.add_fine(
        "core_files",
        fmt::format("core files hold what the views need{}",
                    system.core_pattern ? fmt::format(" (core_pattern {})", *system.core_pattern) : ""));
}

void check_ptrace_scope(const Evidence& evidence, Findings& findings) {
  constexpr int kAttachNobody = 3;
  if (!evidence.system.ptrace_scope) return;
  const int scope = *evidence.system.ptrace_scope;
  if (scope == 0)
    findings.add_fine("ptrace_scope", "ptrace_scope is 0: the same user may look");
  else if (scope >= kAttachNobody)
    findings.add_note("ptrace_scope", fmt::format("ptrace_scope is {}: nobody may look at processes", scope),
                      "It stays so until the next boot.");
  else
    findings.add_note("ptrace_scope",
                      fmt::format("ptrace_scope is {}: only root and parents may look", scope),
                      "Run tarn as root, or start the program with observe:owner.");
}

}  // namespace

void check_system(const Evidence& evidence, Findings& findings) {
  check_control_group(evidence, findings);
  check_address_space(evidence, findings);
  check_overcommit(evidence, findings);
  check_swap(evidence, findings);
  check_mappings(evidence, findings);
  check_thp(evidence, findings);
  check_watches(evidence, findings);
  check_core_files(evidence, findings);
  check_ptrace_scope(evidence, findings);
}

}  // namespace tarn::observer
