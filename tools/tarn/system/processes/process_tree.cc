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

std::string text_of(pid_t pid, const char* file) {
  return observer::read_kernel_text(fmt::format("/proc/{}/{}", pid, file)).value_or("");
}

/// The part of /proc/PID/stat behind the name, which may hold blanks and brackets itself.
std::istringstream fields_of_stat(pid_t pid) {
  const std::string text = text_of(pid, "stat");
  const std::size_t end_of_name = text.rfind(')');
  return std::istringstream(end_of_name == std::string::npos ? "" : text.substr(end_of_name + 1));
}

void add_use(pid_t pid, Measurement& sum) {
  static const double tick_seconds = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  std::istringstream fields = fields_of_stat(pid);
  std::string skipped;
  for (int field = 3; field < 10; ++field) fields >> skipped;  // as proc(5) counts them
  std::uint64_t minor = 0, minor_of_children = 0, major = 0, major_of_children = 0;
  std::uint64_t user = 0, system = 0, user_of_children = 0, system_of_children = 0;
  fields >> minor >> minor_of_children >> major >> major_of_children;
  fields >> user >> system >> user_of_children >> system_of_children;
  sum.user_seconds += tick_seconds * static_cast<double>(user + user_of_children);
  sum.system_seconds += tick_seconds * static_cast<double>(system + system_of_children);
  sum.minor_faults += minor + minor_of_children;
  sum.major_faults += major + major_of_children;
}

std::uint64_t rss_bytes(pid_t pid) {
  static const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::string text = text_of(pid, "statm");
  const std::size_t blank = text.find(' ');
  return blank == std::string::npos ? 0 : observer::number_in(text.substr(blank + 1)) * page_bytes;
}

/// Of a process of another user nothing but its RSS may be known.
std::uint64_t proportional_bytes(pid_t pid) {
  const std::string text = text_of(pid, "smaps_rollup");
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

bool is_alive(pid_t pid) {
  char state = 'X';
  fields_of_stat(pid) >> state;
  return state != 'X' && state != 'Z';
}

std::string name_of(pid_t pid) {
  std::string name = text_of(pid, "comm");
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
