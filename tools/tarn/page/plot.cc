// Finds Python with matplotlib and the script, and runs it.
#include "page/plot.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>

#include "system/environment.h"
#include "system/files.h"
#include "system/runner.h"
#include "system/usage_error.h"

namespace tarn::tool {
namespace fs = std::filesystem;
namespace {

constexpr const char* kScriptName = "plot_compare.py";

std::string find_script() {
  if (const std::string file = find_shared_file(kScriptName); !file.empty()) return file;
  throw UsageError(
      fmt::format("--plot needs {}, which is neither beside the tool nor in ../share/tarn", kScriptName));
}

std::string find_python() {
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    const std::string test = fmt::format(
        "{} -c 'import importlib.util as u, sys; sys.exit(u.find_spec(\"matplotlib\") is None)' 2>/dev/null",
        python);
    if (std::system(test.c_str()) == 0) return python;
  }
  throw UsageError("--plot needs matplotlib for Python: apt-get install python3-matplotlib");
}

}  // namespace

Plotter::Plotter(std::string picture) : picture_(std::move(picture)) {
  const std::string extension = fs::path(picture_).extension().string();
  if (extension != ".png" && extension != ".svg")
    throw UsageError(fmt::format("--plot draws .png or .svg, not '{}'", picture_));
  require_writable(picture_);
  script_ = find_script();
  python_ = find_python();
}

void Plotter::draw(const std::string& result_file, SignalWatch& signals) const {
  constexpr double kMostSeconds = 120;
  const RunRequest request = {.command = {python_, script_, result_file, picture_},
                              .environment = Environment().entries(),
                              .timeout_seconds = kMostSeconds,
                              .on_tick = {}};
  const RunResult run = run_program(request, signals);
  if (run.ending == Ending::kExited && run.code == 0) return;
  throw std::runtime_error(
      fmt::format("{} was not drawn: {}", picture_, fmt::join(run.errors.last_lines(2), "; ")));
}

}  // namespace tarn::tool
