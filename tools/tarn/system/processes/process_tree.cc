// /proc/PID/stat, statm, smaps_rollup and task/*/children.
#include "system/processes/process_tree.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "observer/files/kernel_text.h"
#include "observer/text/printable.h"

namespace tarn::tool {
namespace {

using observer::process_text;

void add_use(pid_t pid, Measurement& sum) {
  static const double tick_seconds = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  const std::string stat = process_text(pid, "stat");
  const auto word = [&](int number) { return observer::number_in(observer::word_of_stat(stat, number)); };
  sum.minor_faults += word(10) + word(11);  // as proc(5) counts them: its own, and of its children
  sum.major_faults += word(12) + word(13);
  sum.user_seconds += tick_seconds * static_cast<double>(word(14) + word(16));
  sum.system_seconds += tick_seconds * static_cast<double>(word(15) + word(17));
}

std::uint64_t rss_bytes(pid_t pid) {
  static const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::string text = process_text(pid, "statm");
  const std::size_t blank = text.find(' ');
  return blank == std::string::npos ? 0 : observer::number_in(text.substr(blank + 1)) * page_bytes;
}

/// Of a process of another user nothing but its RSS may be known.
std::uint64_t proportional_bytes(pid_t pid) {
  const std::string text = process_text(pid, "smaps_rollup");
  return text.empty() ? rss_bytes(pid) : observer::bytes_of(text, "Pss:");
}

template <typename Number>
Number grown(Number before, Number after) {
  return after > before ? after - before : 0;
}

}  // namespace

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> children;
  std::error_code gone;
  std::filesystem::directory_iterator thread(fmt::format("/proc/{}/task", pid), gone);
  for (; !gone && thread != std::filesystem::directory_iterator(); thread.increment(gone)) {
    std::istringstream list(observer::read_kernel_text((thread->path() / "children").string()).value_or(""));
    for (pid_t child = 0; list >> child;) children.push_back(child);
  }
  return children;
}

std::vector<pid_t> tree_of(pid_t root) {
  std::vector<pid_t> processes = {root};
  for (std::size_t next = 0; next < processes.size(); ++next)
    for (const pid_t child : children_of(processes[next])) processes.push_back(child);
  return processes;
}

bool is_alive(pid_t pid) { return !observer::tells_of_end(process_text(pid, "stat")); }

std::uint64_t start_ticks_of(pid_t pid) {
  const std::string stat = process_text(pid, "stat");
  return observer::tells_of_end(stat) ? 0 : observer::number_in(observer::word_of_stat(stat, 22));
}

std::string name_of(pid_t pid) {
  std::string name = process_text(pid, "comm");
  std::erase(name, '\n');
  return observer::printable(name);
}

Measurement use_of(const std::vector<pid_t>& processes) {
  Measurement sum;
  for (const pid_t pid : processes) add_use(pid, sum);
  return sum;
}

Measurement use_between(const Measurement& before, const Measurement& after) {
  return {.user_seconds = grown(before.user_seconds, after.user_seconds),
          .system_seconds = grown(before.system_seconds, after.system_seconds),
          .minor_faults = grown(before.minor_faults, after.minor_faults),
          .major_faults = grown(before.major_faults, after.major_faults)};
}

std::uint64_t resident_bytes(const std::vector<pid_t>& processes) {
  std::vector<pid_t> alive;
  std::copy_if(processes.begin(), processes.end(), std::back_inserter(alive), is_alive);
  if (alive.size() == 1) return rss_bytes(alive.front());
  std::uint64_t sum = 0;
  for (const pid_t pid : alive) sum += proportional_bytes(pid);
  return sum;
}

}  // namespace tarn::tool
