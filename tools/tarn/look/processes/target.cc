#include "look/processes/target.h"

#include <fmt/format.h>

#include <vector>

#include "look/processes/processes.h"
#include "observer/process/attached_process.h"
#include "system/files/usage_error.h"

namespace tarn::tool {
namespace {

/// Of those that have the name, the one that runs on tarn: a script's interpreter, a wrapper and a shell may
/// have it too.
int process_named(const std::string& name) {
  const std::vector<ProcessName> named = processes_named(name);
  if (named.empty())
    throw observer::ObserveError(
        fmt::format("no process is named '{}': `tarn ps` shows those that run on tarn", name));
  if (named.size() == 1) return named.front().pid;
  std::vector<int> candidates;
  for (const ProcessName& one : named)
    if (is_on_tarn(one.pid) == OnTarn::kYes) candidates.push_back(one.pid);
  if (candidates.size() == 1) return candidates.front();
  if (candidates.empty())
    throw observer::ObserveError(fmt::format(
        "{} processes are named '{}', none of those that you may look at runs on tarn", named.size(), name));
  throw observer::ObserveError(
      fmt::format("{0} processes named '{1}' run on tarn: take one of {2}; `tarn ps {1}` shows all together",
                  candidates.size(), name, fmt::join(candidates, ", ")));
}

void require_one_name(const Target& target) {
  if (target.name_or_pid.empty() == target.core_file.empty())
    throw UsageError("name what to look at: PID, NAME or --core FILE, one of them");
}

int pid_of(const Target& target) {
  const int number = process_number(target.name_or_pid);
  return number != 0 ? number : process_named(target.name_or_pid);
}

}  // namespace

void add_target(CLI::App& command, Target& target) {
  add_word(command, "PID|NAME", target.name_or_pid, "The process to look at").without_type();
  add_value(command, "--core FILE", target.core_file, "Look at a core file or minidump instead");
}

std::unique_ptr<observer::Source> open_target(const Target& target) {
  require_one_name(target);
  return target.core_file.empty() ? observer::open_process(pid_of(target))
                                  : observer::open_dump(target.core_file);
}

std::unique_ptr<observer::Source> open_target_to_switch(const Target& target) {
  require_one_name(target);
  return target.core_file.empty() ? observer::open_process_to_switch(pid_of(target))
                                  : observer::open_dump(target.core_file);
}

}  // namespace tarn::tool
