#include "engine/contenders/versions.h"

#include "system/files/environment.h"
#include "system/runs/runner.h"

namespace tarn::tool {
namespace {

/// Name and version of a Debian package.
std::string package_version(const std::string& package, SignalWatch& signals) {
  constexpr double kMostSeconds = 10;
  const RunResult run = run_program({.command = {"dpkg-query", "-W", "-f", "${Package} ${Version}", package},
                                     .environment = Environment().entries(),
                                     .timeout_seconds = kMostSeconds,
                                     .on_tick = {}},
                                    signals);
  return run.ending == Ending::kExited && run.code == 0 ? run.output.kept() : "";
}

}  // namespace

std::string version_of(const Allocator& allocator, SignalWatch& signals) {
  if (!allocator.version.empty()) return allocator.version;
  const KnownAllocator* known = find_known(allocator.name);
  if (known == nullptr || find_library(*known, library_directories()) != allocator.library) return {};
  return package_version(known->debian_package, signals);
}

}  // namespace tarn::tool
