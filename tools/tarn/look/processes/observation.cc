#include "look/processes/observation.h"

#include <unistd.h>

#include <fstream>
#include <sstream>

#include "observer/files/kernel_text.h"
#include "observer/process/attached_process.h"

namespace tarn::tool {
namespace {

using observer::Source;
using observer::SourceKind;

/// The words of /proc/PID/stat from the state on, which is the third; none: the process is no more.
std::vector<std::string> process_status(const Source& source) {
  const std::string line = observer::read_kernel_text(observer::kernel_file(source, "stat")).value_or("");
  const std::size_t name_end = line.rfind(')');  // a name may hold blanks and brackets
  if (name_end == std::string::npos) return {};
  std::istringstream words(line.substr(name_end + 1));
  return {std::istream_iterator<std::string>(words), {}};
}

bool is_running(const Source& source) {
  return source.kind() == SourceKind::kProcess || source.kind() == SourceKind::kOwn;
}

}  // namespace

bool has_ended(const Source& source) {
  const std::vector<std::string> status = process_status(source);
  return status.empty() || status[0] == "Z" || status[0] == "X";
}

std::optional<double> seconds_up(const Source& source) {
  constexpr std::size_t kStartTime = 22 - 3;
  const std::vector<std::string> status = process_status(source);
  double machine_seconds = 0;
  std::ifstream("/proc/uptime") >> machine_seconds;
  if (status.size() <= kStartTime || machine_seconds == 0) return std::nullopt;
  return machine_seconds - std::stod(status[kStartTime]) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

Look look_at(Source& source, const Look* before) {
  if (before != nullptr) source.refresh();
  Look look;
  look.snapshot = observer::read_snapshot(source);
  const std::optional<observer::Residency> residency =
      is_running(source) ? observer::read_residency(source) : std::nullopt;
  look.sheet = observer::make_sheet(look.snapshot, residency ? &*residency : nullptr);
  look.rates = observer::rates(before != nullptr ? before->snapshot : look.snapshot, look.snapshot);
  look.watches = observer::watches_of(observer::read_watch_words(source), look.snapshot);
  if (is_running(source)) look.up_seconds = seconds_up(source);
  return look;
}

}  // namespace tarn::tool
