// The checks in the order of their importance: of equal findings the first stays first.
#include "observer/findings/findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "observer/findings/checks.h"
#include "observer/text/words.h"

namespace tarn::observer {
namespace {

void check_leaks(const Evidence& evidence, Findings& findings) {
  constexpr std::uint64_t kBadBytes = kMiB;  // less may be what a program makes once and never lets go
  if (evidence.leaks == nullptr) return;
  const LeakSum& leaks = *evidence.leaks;
  if (leaks.blocks == 0) return findings.add_fine("leaks", "something points to each live block: no leaks");
  findings.add("leaks", leaks.bytes >= kBadBytes ? Severity::kBad : Severity::kNote, leaks.bytes,
               fmt::format("{} in {} live blocks are lost: nothing points to them",
                           bytes_in_words(leaks.bytes), count_in_words(leaks.blocks)),
               "`tarn leaks` tells them by class and size; `tarn run --leaks` starts the program and "
               "tells at its end who made them.");
}

void check_exactness(const Evidence& evidence, Findings& findings) {
  const Exactness& exactness = evidence.snapshot.exactness;
  if (exactness.bad_spans == 0) return;
  findings.add_note(
      "unreadable",
      fmt::format("{} could not be read and {} left out of all figures", counted(exactness.bad_spans, "span"),
                  exactness.bad_spans == 1 ? "is" : "are"),
      "Look again; if it stays so, the program has overwritten records of the library.");
}

}  // namespace

std::string_view name_of(Severity severity) {
  constexpr std::string_view kNames[] = {"bad", "note", "ok"};
  return kNames[static_cast<std::size_t>(severity)];
}

std::vector<Finding> findings_of(const Evidence& evidence) {
  Findings findings;
  check_leaks(evidence, findings);
  check_memory(evidence, findings);
  check_system(evidence, findings);
  check_exactness(evidence, findings);
  std::stable_sort(findings.all.begin(), findings.all.end(), [](const Finding& a, const Finding& b) {
    return a.severity != b.severity ? a.severity < b.severity : a.bytes > b.bytes;
  });
  return std::move(findings.all);
}

bool has_bad(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.severity == Severity::kBad; });
}

}  // namespace tarn::observer
