// Whether a run may be compared: how it ended, and whether the library it was to run on got into it at all.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "engine/contenders/allocators.h"
#include "system/runs/runner.h"
#include "system/servers/server_run.h"

namespace tarn::tool {

struct Failure {
  std::string what;                      // "exit status 3", "SIGSEGV (Segmentation fault)", ...
  std::string when;                      // "warm-up 1", "round 3"
  std::vector<std::string> error_lines;  // the last of its standard error
};

/// Of standard error, in a failure.
inline constexpr std::size_t kShownErrorLines = 5;

/// What is wrong with a run; nothing if it ended as it should. \post `when` is left empty
std::optional<Failure> failure_of(const RunResult& run, const Allocator& allocator, int expected_status,
                                  double timeout_seconds);

/// The same of a server.
std::optional<Failure> failure_of(const ServerResult& run, const Allocator& allocator);

/// The reason the loader gave for not preloading a library, in its message on standard error; empty if it
/// gave none.
std::string loader_complaint(const std::string& error_text, const std::string& library);

}  // namespace tarn::tool
