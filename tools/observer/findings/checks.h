// The checks that findings_of() calls: those of memory_checks.cc ask the snapshot, those of system_checks.cc
// the system. Each adds the findings of its name.
#pragma once
#include "observer/findings/findings.h"

namespace tarn::observer {

using Findings = std::vector<Finding>;

inline constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

void check_fragmentation(const Evidence& evidence, Findings& findings);
void check_huge_pages(const Evidence& evidence, Findings& findings);
void check_caps(const Evidence& evidence, Findings& findings);
void check_heap_limits(const Evidence& evidence, Findings& findings);
void check_process_limits(const Evidence& evidence, Findings& findings);
void check_remote_frees(const Evidence& evidence, Findings& findings);
void check_ended_threads(const Evidence& evidence, Findings& findings);
void check_thread_caches(const Evidence& evidence, Findings& findings);
void check_free_pages(const Evidence& evidence, Findings& findings);
void check_growth(const Evidence& evidence, Findings& findings);
void check_watches(const Evidence& evidence, Findings& findings);
void check_leaks(const Evidence& evidence, Findings& findings);
void check_exactness(const Evidence& evidence, Findings& findings);

void check_thp(const Evidence& evidence, Findings& findings);
void check_control_group(const Evidence& evidence, Findings& findings);
void check_address_space(const Evidence& evidence, Findings& findings);
void check_overcommit(const Evidence& evidence, Findings& findings);
void check_swap(const Evidence& evidence, Findings& findings);
void check_mappings(const Evidence& evidence, Findings& findings);
void check_core_files(const Evidence& evidence, Findings& findings);
void check_ptrace_scope(const Evidence& evidence, Findings& findings);

}  // namespace tarn::observer
