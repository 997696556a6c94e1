#include "look/processes/processes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "observer/files/kernel_text.h"
#include "observer/process/source.h"
#include "observer/records/locate.h"
#include "profile/symbols/reader_process.h"

namespace tarn::tool {
namespace {

constexpr double kMostSecondsOfAnswer = 2;

struct Names {
  std::string kept, executable;  // by the kernel, of which it keeps 15 characters; of its file
};

Names names_of(const std::filesystem::path& process) {
  return {observer::first_line_of(process / "comm").value_or(""), observer::executable_name(process / "exe")};
}

std::string name_of(const Names& names) {
  return names.executable.starts_with(names.kept) ? names.executable : names.kept;
}

}  // namespace

int process_number(const std::string& word) {
  int number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc{} && end == word.data() + word.size() && number > 0 ? number : 0;
}

std::vector<ProcessName> processes_named(const std::string& name) {
  std::vector<ProcessName> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const int pid = process_number(entry.path().filename().string());
    if (pid == 0 || pid == getpid() || !has_memory(pid)) continue;
    const Names names = names_of(entry.path());
    if (name.empty() || names.kept == name || names.executable == name)
      found.push_back({pid, name_of(names)});
  }
  std::sort(found.begin(), found.end(),
            [](const ProcessName& a, const ProcessName& b) { return a.pid < b.pid; });
  return found;
}

std::string name_of_process(int pid) { return name_of(names_of(fmt::format("/proc/{}", pid))); }

// \why not whether it has a command line: that lies in its memory, and need not come.
bool has_memory(int pid) {
  return !observer::field_of(observer::process_text(pid, "status"), "VmSize:").empty();
}

OnTarn is_on_tarn(int pid) {
  profile::ReaderProcess reader(
      [pid](const auto& write) { write(observer::locate(*observer::open_process(pid)) ? "yes" : "no"); });
  const std::optional<std::string> answer = reader.next_line(kMostSecondsOfAnswer);
  return !answer ? OnTarn::kUnknown : *answer == "yes" ? OnTarn::kYes : OnTarn::kNo;
}

}  // namespace tarn::tool
