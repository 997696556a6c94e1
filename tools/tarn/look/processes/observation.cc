#include "look/processes/observation.h"

#include <unistd.h>

#include <fstream>

#include "observer/files/kernel_text.h"
#include "observer/process/attached_process.h"

namespace tarn::tool {
namespace {

using observer::Source;

std::string stat_of(const Source& source) {
  return observer::read_kernel_text(observer::kernel_file(source, "stat")).value_or("");
}

}  // namespace

bool has_ended(const Source& source) { return observer::tells_of_end(stat_of(source)); }

std::optional<double> seconds_up(const Source& source) {
  constexpr int kStartTime = 22;
  const std::string stat = stat_of(source);
  const std::optional<std::uint64_t> start =
      observer::known_number_in(observer::word_of_stat(stat, kStartTime));
  double machine_seconds = 0;
  std::ifstream("/proc/uptime") >> machine_seconds;
  if (!start || machine_seconds == 0) return std::nullopt;
  return machine_seconds - static_cast<double>(*start) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

Look look_at(Source& source, const Look* before) {
  if (before != nullptr) source.refresh();
  Look look;
  look.snapshot = observer::read_snapshot(source);
  const std::optional<observer::Residency> residency = observer::read_residency(source);
  look.sheet = observer::make_sheet(look.snapshot, residency ? &*residency : nullptr);
  look.rates = observer::rates(before != nullptr ? before->snapshot : look.snapshot, look.snapshot);
  look.watches = observer::watches_of(observer::read_watch_words(source), look.snapshot);
  look.up_seconds = seconds_up(source);
  return look;
}

}  // namespace tarn::tool
