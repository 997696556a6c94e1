// Of what a search for leaks has found. Not in memory_checks.cc: the checks there ask the snapshot.
#include <fmt/format.h>

#include "checks.h"
#include "words.h"

namespace tarn::observer {
namespace {

// Less may be what a program makes once and never lets go.
constexpr std::uint64_t kBadBytes = std::uint64_t{1} << 20;

}  // namespace

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
