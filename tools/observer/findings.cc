// All checks, in the order of their importance.
#include "findings.h"

#include <algorithm>

#include "checks.h"

namespace tarn::observer {
namespace {

constexpr void (*kChecks[])(const Evidence&, Findings&) = {
    check_leaks,          check_fragmentation, check_huge_pages,    check_caps,          check_heap_limits,
    check_process_limits, check_remote_frees,  check_ended_threads, check_thread_caches, check_free_pages,
    check_growth,         check_control_group, check_address_space, check_overcommit,    check_swap,
    check_mappings,       check_thp,           check_watches,       check_core_files,    check_ptrace_scope,
    check_exactness};

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

}  // namespace tarn::observer
