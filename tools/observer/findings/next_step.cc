#include "observer/findings/next_step.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <limits>

#include "observer/findings/checks.h"
#include "observer/text/words.h"

namespace tarn::observer {
namespace {

bool is_worth_a_word(const std::vector<Finding>& findings, std::string_view id) {
  const auto found = std::ranges::find(findings, id, &Finding::id);
  return found != findings.end() && found->severity != Severity::kOk;
}

/// \why not /proc/PID/stat: a program that works a little does less than one of its ticks in half a second.
double cpu_seconds_of(int pid) {
  clockid_t clock;
  timespec spent{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &spent) != 0) return 0;
  return static_cast<double>(spent.tv_sec) + 1e-9 * static_cast<double>(spent.tv_nsec);
}

/// \returns by how much it grows a second, in the step in which that is least; 0: not by a figure that tells.
double least_growth(std::span<const Moment> moments) {
  constexpr double kGrowing = 64 << 10, kGrowingShare = 0.002;  // a second: bytes, of what is live
  double least = std::numeric_limits<double>::max();
  for (std::size_t i = 1; i < moments.size(); ++i) {
    const double now = static_cast<double>(moments[i].live_bytes);
    const double grown = now - static_cast<double>(moments[i - 1].live_bytes);
    const double growth = grown / std::max(moments[i].seconds - moments[i - 1].seconds, 1e-3);
    if (growth < std::max(kGrowing, kGrowingShare * now)) return 0;
    least = std::min(least, growth);
  }
  return least;
}

}  // namespace

Moment moment_of(const Source& process, const Snapshot& snapshot) {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return {static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec),
          cpu_seconds_of(process.pid()), snapshot.totals.live_bytes};
}

NextStep next_step(int pid, const std::vector<Finding>& findings, std::span<const Moment> moments) {
  constexpr double kBusy = 0.1, kIdle = 0.005;  // of a processor
  const Moment &first = moments.front(), &last = moments.back();
  const double live = static_cast<double>(last.live_bytes);
  const double busy = (last.cpu_seconds - first.cpu_seconds) / std::max(last.seconds - first.seconds, 1e-3);
  const auto profile = [&](const char* how) { return fmt::format("tarn profile {} {}", pid, how); };
  if (const double growth = least_growth(moments); growth > 0)
    return {profile("--growth"),
            fmt::format("what is live grows by {} a second: who asks for it", short_bytes(growth))};
  if (is_worth_a_word(findings, "leaks")) return {fmt::format("tarn leaks {}", pid), "what was lost"};
  if (is_worth_a_word(findings, "fragmentation"))
    return {profile("--lifetimes"), "who allocates what outlives the blocks around it"};
  if (busy > kBusy)
    return {profile("--lifetimes"),
            fmt::format("it takes {:.0f} % of a processor: who allocates most, and how long that lives",
                        100 * busy)};
  if (last.live_bytes < kMiB) return {};
  // Of what allocates nothing, a profile learns nothing.
  if (busy < kIdle)
    return {fmt::format("tarn heap {}", pid),
            fmt::format("{} are live, and it does nothing: of which classes and sizes", short_bytes(live))};
  return {profile("--types"), fmt::format("{} are live: which objects they are", short_bytes(live))};
}

}  // namespace tarn::observer
