// All checks, in the order of their importance.
#include "observer/findings/findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "observer/findings/checks.h"
#include "observer/text/words.h"

namespace tarn::observer {
namespace {

constexpr void (*kChecks[])(const Evidence&, Findings&) = {
    check_leaks,          check_fragmentation, check_huge_pages,    check_caps,          check_heap_limits,
    check_process_limits, check_remote_frees,  check_ended_threads, check_thread_caches, check_free_pages,
    check_growth,         check_control_group, check_address_space, check_overcommit,    check_swap,
    check_mappings,       check_thp,           check_watches,       check_core_files,    check_ptrace_scope,
    check_exactness};

// Of leaks. Less may be what a program makes once and never lets go.
constexpr std::uint64_t kBadBytes = kMiB;

}  // namespace

std::string_view name_of(Severity severity) {
  constexpr std::string_view kNames[] = {"bad", "note", "ok"};
  return kNames[static_cast<std::size_t>(severity)];
}

std::vector<Finding> findings_of(const Evidence& evidence) {
  Findings findings;
  for (const auto check : kChecks) check(evidence, findings);
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return a.severity != b.severity ? a.severity < b.severity : a.bytes > b.bytes;
  });
  return findings;
}

bool has_bad(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.severity == Severity::kBad; });
}

// Here, since the other checks ask the snapshot or the system.
void check_leaks(const Evidence& evidence, Findings& findings) {
  if (evidence.leaks == nullptr) return;
  const LeakSum& leaks = *evidence.leaks;
  if (leaks.blocks == 0) {
    findings.push_back({"leaks", Severity::kOk, 0, "something points to each live block: no leaks", ""});
    return;
  }
  findings.push_back({"leaks", leaks.bytes >= kBadBytes ? Severity::kBad : Severity::kNote, leaks.bytes,
                      fmt::format("{} in {} live blocks are lost: nothing points to them",
                                  bytes_in_words(leaks.bytes), count_in_words(leaks.blocks)),
                      "`tarn leaks` tells them by class and size; `tarn run --leaks` starts the program and "
                      "tells at its end who made them."});
}

}  // namespace tarn::observer
