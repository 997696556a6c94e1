#include "observer/findings/watches.h"

#include <fmt/format.h>

#include <cstring>

#include "observer/records/layout.h"
#include "observer/records/locate.h"
#include "observer/text/printable.h"
#include "observer/text/words.h"

namespace tarn::observer {
namespace {

struct CostlyOption {
  const char* key;
  const char* cost;
};
constexpr CostlyOption kCostlyOptions[] = {
    {"check", "each free is verified at once and takes the slow path"},
    {"count_calls", "each call is counted and takes the slow path"},
    {"pools_use_malloc", "pools take their blocks from malloc one by one, and are no pools"}};

/// A field that the library of an older version does not have is 0.
std::uint64_t number(const Source& source, const Layout& layout, std::string_view root,
                     std::string_view field) {
  const std::optional<Field> found = layout.find_field(field);
  return found ? read_number(source, layout.root(root), *found).value_or(0) : 0;
}

std::string text_at(const Source& source, Address address) {
  char text[32] = {};
  const std::size_t bytes = address != 0 ? source.read(address, text, sizeof text) : 0;
  return printable({text, strnlen(text, bytes)});
}

std::string who_profiles(const WatchWords& words, const Snapshot& snapshot) {
  if (words.is_profiled_by_tool) return "a tool";
  if (snapshot.option("profile", 0) != 0)
    return words.profile_source.empty() ? "option profile"
                                        : fmt::format("option profile, set by {}", words.profile_source);
  return snapshot.option("leaks", 0) != 0 ? "option leaks" : "a tool of another version";
}

}  // namespace

WatchWords read_watch_words(const Source& source) {
  WatchWords words;
  const std::optional<Located> located = locate(source);
  if (!located) return words;
  const Layout layout = Layout::read(source, located->descriptor);
  words.interval = number(source, layout, "observation", "observation.interval");
  words.is_profiled_by_tool = number(source, layout, "watch_leases", "lease.profile") != 0;
  words.profile_source = text_at(source, number(source, layout, "configuration", "source_of.profile"));
  words.is_recording = layout.find_field("recording.off") &&
                       number(source, layout, "watch", "watch.recording") != layout.value("recording.off");
  words.is_recorded_by_tool = number(source, layout, "watch_leases", "lease.recording") != 0;
  return words;
}

std::string Watch::text() const {
  return is_option() ? fmt::format("{} is on: {}", by, cost)
                     : fmt::format("a {} is on, by {}: {}", kind, by, cost);
}

std::vector<Watch> watches_of(const WatchWords& words, const Snapshot& snapshot) {
  std::vector<Watch> watches;
  if (words.interval != 0)
    watches.push_back(
        {"profile", words.interval, who_profiles(words, snapshot),
         fmt::format("a sample each {}, and each call takes the slow path", bytes_in_words(words.interval))});
  if (words.is_recording)
    watches.push_back({"recording", 0, words.is_recorded_by_tool ? "a tool" : "option record",
                       "each call of malloc is recorded and takes the slow path"});
  for (const CostlyOption& option : kCostlyOptions)
    if (snapshot.option(option.key, 0) != 0)
      watches.push_back({option.key, 0, fmt::format("option {}", option.key), option.cost});
  return watches;
}

}  // namespace tarn::observer
