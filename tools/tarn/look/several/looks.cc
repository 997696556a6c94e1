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
constexpr double kShortestShare = 0.25;                          // seconds
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

Looks look_at_each(const GroupOfProcess& processes, const FollowedProgram::Tell& tell, double most_seconds,
                   int first) {
  const timespec began = now();
  std::size_t room = kMostAnswerBytes;
  Looks looks;
  const auto look = [&](int pid, const std::string& group) {
    const std::uint64_t start_ticks = start_ticks_of(pid);
    if (start_ticks == 0 || !has_memory(pid)) return;
    const double left = most_seconds - seconds_since(began);
    if (left <= 0 || room == 0) {
      ++looks.refused;
      if (looks.next == 0) looks.next = pid;
      return;
    }
    const double end = most_seconds - left + std::min(left, std::max(left / 4, kShortestShare));
    const auto seconds = [&](double most) { return std::min(most, end - seconds_since(began)); };
    profile::ReaderProcess reader([&](const auto& write) { look_in_reader(pid, tell, write); });
    const std::optional<std::string> answer = reader.next_line(seconds(kSecondsToLocate));
    if (!answer && is_alive(pid)) ++looks.refused;
    if (answer != "yes") return;
    std::optional<std::string> text =
        rest_of(reader, seconds(kSecondsToLook), std::min(room, kMostTextBytes));
    // It was this one all the time, and no other of its number.
    if ((!group.empty() && !is_in_group(pid, group)) || start_ticks_of(pid) != start_ticks) return;
    if (!text) {
      looks.failed.push_back(pid);
      return;
    }
    room -= std::min(room, text->size());
    looks.on_tarn.push_back({pid, start_ticks, *std::move(text)});
  };
  const auto middle = processes.lower_bound(first);
  for (auto one = middle; one != processes.end(); ++one) look(one->first, one->second);
  for (auto one = processes.begin(); one != middle; ++one) look(one->first, one->second);
  std::ranges::sort(looks.on_tarn, {}, &Looks::Process::pid);
  return looks;
}

std::string CgroupLook::name() const {
  constexpr std::string_view kRoot = "/sys/fs/cgroup/";
  return observer::printable(path.starts_with(kRoot) ? path.substr(kRoot.size()) : path);
}

CgroupLook FollowedCgroup::look(const FollowedProgram::Tell& tell) {
  if (!is_cgroup(path_)) path_ = find_cgroup(word_);
  CgroupLook look;
  look.path = path_;
  look.cgroup = read_cgroup(path_);
  if (are_many_readers_left())
    look.refused = look.cgroup.processes.size();
  else
    static_cast<Looks&>(look) = look_at_each(look.cgroup.processes, tell, kLookSeconds, next_);
  next_ = look.next;
  return look;
}

}  // namespace tarn::tool
