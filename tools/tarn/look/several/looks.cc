#include "look/several/looks.h"

#include <unistd.h>

#include <algorithm>

#include "look/processes/observation.h"
#include "look/processes/processes.h"
#include "observer/process/attached_process.h"
#include "observer/records/locate.h"
#include "observer/text/printable.h"
#include "profile/symbols/reader_process.h"
#include "system/figures/clock.h"
#include "system/processes/process_tree.h"

namespace tarn::tool {
namespace {

constexpr double kSecondsToLocate = 2, kSecondsToLook = 10;      // for one process
constexpr std::size_t kMostAnswerBytes = std::size_t{64} << 20;  // of all

/// Writes "yes" or "no", then what is told, and an empty line.
void look_in_reader(int pid, const FollowedProgram::Tell& tell,
                    const std::function<void(const std::string&)>& write) {
  const auto source = observer::open_process(pid);
  const bool is_on_tarn = observer::locate(*source).has_value();
  write(is_on_tarn ? "yes" : "no");
  if (is_on_tarn) write(tell(look_at(*source, nullptr)));
}

/// \returns nothing where it does not come to its end.
std::optional<std::string> rest_of(profile::ReaderProcess& reader, double seconds, std::size_t most_bytes) {
  const timespec began = now();
  std::string text;
  while (text.size() < most_bytes) {
    const std::optional<std::string> line = reader.next_line(seconds - seconds_since(began));
    if (!line) break;
    if (line->empty()) return text;
    text += *line + '\n';
  }
  return std::nullopt;
}

/// \why each that hangs stays: a watch of weeks must not fill the machine with them
bool are_many_readers_left() {
  constexpr std::size_t kMany = 16;
  return is_reader_left() && children_of(getpid()).size() > kMany;
}

}  // namespace

Looks look_at_each(const std::vector<int>& processes, const FollowedProgram::Tell& tell,
                   double most_seconds) {
  const timespec began = now();
  std::size_t room = kMostAnswerBytes;
  Looks looks;
  for (const int pid : processes) {
    if (!has_memory(pid)) continue;
    const auto seconds = [&](double most) { return std::min(most, most_seconds - seconds_since(began)); };
    if (seconds(1) <= 0) {
      ++looks.refused;
      continue;
    }
    profile::ReaderProcess reader([&](const auto& write) { look_in_reader(pid, tell, write); });
    const std::optional<std::string> answer = reader.next_line(seconds(kSecondsToLocate));
    if (!answer && is_alive(pid)) ++looks.refused;
    if (answer != "yes") continue;
    if (std::optional<std::string> text = rest_of(reader, seconds(kSecondsToLook), room)) {
      room -= std::min(room, text->size());
      looks.on_tarn.push_back({pid, *std::move(text)});
    } else if (is_alive(pid)) {
      looks.failed.push_back(pid);
    }
  }
  return looks;
}

std::string CgroupLook::name() const {
  constexpr std::string_view kRoot = "/sys/fs/cgroup/";
  return observer::printable(path.starts_with(kRoot) ? path.substr(kRoot.size()) : path);
}

CgroupLook look_at_cgroup(const std::string& word, const FollowedProgram::Tell& tell) {
  CgroupLook look;
  look.path = find_cgroup(word);
  look.cgroup = read_cgroup(look.path);
  if (are_many_readers_left())
    look.refused = look.cgroup.processes.size();
  else
    static_cast<Looks&>(look) = look_at_each(look.cgroup.processes, tell, kLookSeconds);
  return look;
}

}  // namespace tarn::tool
