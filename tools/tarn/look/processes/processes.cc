#include "look/processes/processes.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "observer/files/kernel_text.h"
#include "observer/process/source.h"
#include "observer/records/locate.h"
#include "profile/symbols/reader_process.h"

namespace tarn::tool {
namespace {

constexpr double kMostSeconds = 2;

std::string first_line_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

/// "" without the right to look.
std::string executable_of(const std::filesystem::path& process) {
  constexpr std::string_view kDeleted = " (deleted)";
  std::error_code error;
  std::string name = std::filesystem::read_symlink(process / "exe", error).filename();
  if (name.ends_with(kDeleted)) name.resize(name.size() - kDeleted.size());
  return name;
}

std::string name_of(const std::filesystem::path& process) {
  const std::string name = first_line_of(process / "comm"), executable = executable_of(process);
  return executable.starts_with(name) ? executable : name;
}

bool has_name(const std::filesystem::path& process, const std::string& name) {
  return first_line_of(process / "comm") == name || executable_of(process) == name;
}

/// Kernel threads and zombies have none. \why not whether it has a command line: that lies in its memory, and
/// need not come.
bool has_memory(const std::filesystem::path& process) {
  const std::string status = observer::read_kernel_text((process / "status").string()).value_or("");
  return !observer::field_of(status, "VmSize:").empty();
}

/// 0: no number.
int number_of(const std::string& word) {
  int number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc{} && end == word.data() + word.size() ? number : 0;
}

}  // namespace

std::vector<ProcessName> processes_named(const std::string& name) {
  std::vector<ProcessName> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const int pid = number_of(entry.path().filename().string());
    if (pid <= 0 || pid == getpid() || !has_memory(entry.path())) continue;
    if (name.empty() || has_name(entry.path(), name)) found.push_back({pid, name_of(entry.path())});
  }
  std::sort(found.begin(), found.end(),
            [](const ProcessName& a, const ProcessName& b) { return a.pid < b.pid; });
  return found;
}

OnTarn is_on_tarn(int pid) {
  profile::ReaderProcess reader(
      [pid](const auto& write) { write(observer::locate(*observer::open_process(pid)) ? "yes" : "no"); });
  const std::optional<std::string> answer = reader.next_line(kMostSeconds);
  return !answer ? OnTarn::kUnknown : *answer == "yes" ? OnTarn::kYes : OnTarn::kNo;
}

}  // namespace tarn::tool
