// Judging single runs.
#include "engine/contenders/verification.h"

#include <fmt/format.h>

#include <cstring>

#include "system/figures/format.h"

namespace tarn::tool {
namespace {

std::string what_failed(const RunResult& run, const Allocator& allocator, int expected_status,
                        double timeout_seconds) {
  switch (run.ending) {
    case Ending::kNotStarted:
      return fmt::format("could not be started: {}", std::strerror(run.code));
    case Ending::kTimedOut:
      return fmt::format("timeout: killed after {}", format_seconds(timeout_seconds));
    case Ending::kInterrupted:
    case Ending::kExited:
    case Ending::kSignaled:
      break;
  }
  const std::string complaint = loader_complaint(run.errors.beginning(), allocator.library);
  if (!complaint.empty()) return fmt::format("could not be preloaded: {}", complaint);
  if (run.ending == Ending::kSignaled) return "ended by " + format_signal(run.code);
  if (run.ending == Ending::kExited && run.code != expected_status)
    return fmt::format("exit status {}", run.code);
  return {};
}

}  // namespace

std::string loader_complaint(const std::string& error_text, const std::string& library) {
  if (library.empty()) return {};
  const std::string opening = fmt::format("object '{}' from LD_PRELOAD cannot be preloaded (", library);
  const std::size_t at = error_text.find(opening);
  if (at == std::string::npos) return {};
  const std::size_t start = at + opening.size();
  return error_text.substr(start, error_text.find("): ignored", start) - start);
}

std::optional<Failure> failure_of(const RunResult& run, const Allocator& allocator, int expected_status,
                                  double timeout_seconds) {
  const std::string what = what_failed(run, allocator, expected_status, timeout_seconds);
  if (what.empty()) return std::nullopt;
  return Failure{what, "", run.errors.last_lines(kShownErrorLines)};
}

std::optional<Failure> failure_of(const ServerResult& run, const Allocator& allocator) {
  const std::string complaint = loader_complaint(run.server.errors.beginning(), allocator.library);
  if (complaint.empty() && !run.failure) return std::nullopt;
  const bool is_of_load = run.failure && (run.failure->trouble == ServerTrouble::kLoadFailed ||
                                          run.failure->trouble == ServerTrouble::kLoadTimedOut);
  return Failure{complaint.empty() ? run.failure->what : fmt::format("could not be preloaded: {}", complaint),
                 "", (is_of_load ? run.load : run.server).errors.last_lines(kShownErrorLines)};
}

}  // namespace tarn::tool
