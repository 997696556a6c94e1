#include "look/target.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <vector>

#include "observer/attached_process.h"
#include "system/usage_error.h"

namespace tarn::tool {
namespace {

std::string first_line_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

/// \returns 0 when the word is no number.
int number_in(const std::string& word) {
  int number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc{} && end == word.data() + word.size() && number > 0 ? number : 0;
}

/// The kernel keeps 15 characters of a name; the whole one is that of the executable.
bool has_name(const std::filesystem::path& process, const std::string& name) {
  if (first_line_of(process / "comm") == name) return true;
  std::error_code error;
  const std::filesystem::path executable = std::filesystem::read_symlink(process / "exe", error);
  return !error && executable.filename() == name;
}

std::vector<int> processes_named(const std::string& name) {
  std::vector<int> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const int pid = number_in(entry.path().filename().string());
    if (pid != 0 && pid != getpid() && has_name(entry.path(), name)) found.push_back(pid);
  }
  return found;
}

int process_named(const std::string& name) {
  const std::vector<int> found = processes_named(name);
  if (found.empty())
    throw observer::ObserveError(fmt::format("no process is named '{}': `ps` shows names and numbers", name));
  if (found.size() > 1)
    throw observer::ObserveError(fmt::format("{} processes are named '{}': take one of {}", found.size(),
                                             name, fmt::join(found, ", ")));
  return found.front();
}

void require_one_name(const Target& target) {
  if (target.name_or_pid.empty() == target.core_file.empty())
    throw UsageError("name what to look at: PID, NAME or --core FILE, one of them");
}

int pid_of(const Target& target) {
  const int number = number_in(target.name_or_pid);
  return number != 0 ? number : process_named(target.name_or_pid);
}

}  // namespace

void add_target(CLI::App& command, Target& target) {
  command.add_option("PID|NAME", target.name_or_pid, "The process to look at")->type_name("");
  command.add_option("--core", target.core_file, "Look at a core file or minidump instead")
      ->type_name("FILE");
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
