#include "look/processes/processes.h"

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

/// Kernel threads and zombies have none. \why not whether it has a command line: that lies in its memory, and
/// need not come.
bool has_memory(const std::filesystem::path& process) {
  const std::string status = observer::read_kernel_text((process / "status").string()).value_or("");
  return !observer::field_of(status, "VmSize:").empty();
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
    if (pid == 0 || pid == getpid() || !has_memory(entry.path())) continue;
    const auto [kept, executable] = names_of(entry.path());
    if (name.empty() || kept == name || executable == name)
      found.push_back({pid, executable.starts_with(kept) ? executable : kept});
  }
  std::sort(found.begin(), found.end(),
            [](const ProcessName& a, const ProcessName& b) { return a.pid < b.pid; });
  return found;
}

OnTarn is_on_tarn(int pid) {
  profile::ReaderProcess reader(
      [pid](const auto& write) { write(observer::locate(*observer::open_process(pid)) ? "yes" : "no"); });
  const std::optional<std::string> answer = reader.next_line(kMostSecondsOfAnswer);
  return !answer ? OnTarn::kUnknown : *answer == "yes" ? OnTarn::kYes : OnTarn::kNo;
}

}  // namespace tarn::tool
