#include "look/watch/hook.h"

#include <fmt/format.h>
#include <unistd.h>

#include <system_error>

#include "system/files/environment.h"
#include "system/runs/runner.h"

namespace tarn::tool {
namespace {

constexpr double kMostSeconds = 600;

Environment environment_of(const Json& memory, const Threshold& threshold) {
  Environment environment;
  environment.set(
      {{"TARN_WATCH_WHAT", threshold.figure},
       {"TARN_WATCH_BYTES", std::to_string(figure_in(memory, threshold.figure).value_or(0))},
       {"TARN_WATCH_ABOVE", std::to_string(threshold.bytes)},
       {"TARN_WATCH_PID", is_of_cgroup(memory) ? "" : std::to_string(memory.at("pid").get<int>())},
       {"TARN_WATCH_PROGRAM", memory.value("program", "")},
       {"TARN_WATCH_CGROUP", memory.value("cgroup", "")},
       {"TARN_WATCH_JSON", observer::json_text(memory)}});
  return environment;
}

bool run(const std::string& command, const Environment& environment, SignalWatch& signals) {
  RunRequest request;
  request.command = {"/bin/sh", "-c", command};
  request.environment = environment.entries();
  request.timeout_seconds = kMostSeconds;
  request.on_output =
      request.on_errors = [](std::string_view text) { observer::write_all(STDERR_FILENO, text); };
  const RunResult result = run_program(request, signals);
  if (result.ending == Ending::kTimedOut)
    fmt::print(stderr, "tarn: the command did not end within {} s\n", kMostSeconds);
  else if (result.code != 0)
    fmt::print(stderr, "tarn: the command failed: {} {}\n",
               result.ending == Ending::kSignaled ? "signal" : "status", result.code);
  return result.ending != Ending::kInterrupted;
}

}  // namespace

/// \why a watch of weeks must not end because memory is short, which is when it runs
bool run_hook(const std::string& command, const Json& memory, const Threshold& threshold,
              SignalWatch& signals) {
  try {
    return run(command, environment_of(memory, threshold), signals);
  } catch (const std::system_error& error) {
    fmt::print(stderr, "tarn: the command cannot be run: {}\n", error.what());
    return true;
  }
}

}  // namespace tarn::tool
