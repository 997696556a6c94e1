// What findings_of() is made of: memory_checks.cc asks the snapshot, system_checks.cc the system.
#pragma once
#include "observer/findings/findings.h"

namespace tarn::observer {

inline constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

struct Findings {
  std::vector<Finding> all;

  /// What is fine keeps no advice.
  void add(std::string_view id, Severity severity, std::uint64_t bytes, std::string what,
           std::string advice) {
    all.push_back({id, severity, bytes, std::move(what), severity == Severity::kOk ? "" : std::move(advice)});
  }
  void add_note(std::string_view id, std::string what, std::string advice) {
    add(id, Severity::kNote, 0, std::move(what), std::move(advice));
  }
  void add_fine(std::string_view id, std::string what) { add(id, Severity::kOk, 0, std::move(what), ""); }
};

void check_memory(const Evidence& evidence, Findings& findings);
void check_system(const Evidence& evidence, Findings& findings);

}  // namespace tarn::observer
