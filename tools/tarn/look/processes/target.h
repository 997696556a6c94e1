// The words of a command that looks into a program: PID|NAME, or --core FILE.
#pragma once
#include <memory>
#include <string>

#include "commands/commands.h"
#include "observer/process/source.h"

namespace tarn::tool {

struct Target {
  std::string name_or_pid;
  std::string core_file;
};

/// Adds PID|NAME and --core FILE.
void add_target(CLI::App& command, Target& target);

/// \throws UsageError when the command line names none, or both; observer::ObserveError when it cannot be
/// looked at, or when several processes have the name: the message lists them.
std::unique_ptr<observer::Source> open_target(const Target& target);
/// The same of a process: its memory may be written then.
std::unique_ptr<observer::Source> open_target_to_switch(const Target& target);

}  // namespace tarn::tool
