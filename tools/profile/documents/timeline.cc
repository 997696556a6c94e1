// The Trace Event Format ("Trace Event Format", docs.google.com, 2016), as Perfetto's JSON importer reads it:
// "M" names a process or thread, "C" is a counter with a series for each argument, "i" an instant.
#include <fmt/format.h>

#include <algorithm>

#include "observer/text/words.h"
#include "profile/documents/documents.h"
#include "profile/reports/over_time.h"

namespace tarn::profile {
namespace {

constexpr std::size_t kMostSites = 20;
constexpr int kPeaksThread = 1;

std::int64_t microseconds(double seconds) {
  constexpr double kPerSecond = 1e6, kLongest = 1e9;
  return whole(std::clamp(seconds, 0.0, kLongest) * kPerSecond);
}

std::string series_of(const SiteOverTime& site) {
  std::string words = site.place.empty() ? site.name : fmt::format("{} ({})", site.name, site.place);
  return site.pool.empty() ? words : words + " in " + site.pool;
}

class Timeline {
 public:
  Timeline(const NamedProfile& profile, const LiveOverTime& over_time)
      : over_time_(over_time), pid_(std::max(profile.raw().pid, 1)) {
    add_name("process_name", profile.program());
    add_name("thread_name", "peaks");
  }
  Json events();

 private:
  Json& add(const char* phase, const std::string& name) {
    events_.push_back({{"ph", phase}, {"name", name}, {"pid", pid_}, {"tid", kPeaksThread}});
    return events_.back();
  }
  void add_name(const char* of, const std::string& name) { add("M", of)["args"] = {{"name", name}}; }
  void add_counter(const char* name, std::size_t look, Json series) {
    Json& event = add("C", name);
    event["ts"] = microseconds(over_time_.seconds[look]);
    event["args"] = std::move(series);
  }
  void add_peak(const std::string& of, const std::vector<double>& bytes);

  const LiveOverTime& over_time_;
  const int pid_;
  Json events_ = Json::array();
};

void Timeline::add_peak(const std::string& of, const std::vector<double>& bytes) {
  const auto peak = std::ranges::max_element(bytes);
  Json& event = add("i", fmt::format("peak of {}: {}", of, observer::short_bytes(*peak)));
  event["ts"] = microseconds(over_time_.seconds[static_cast<std::size_t>(peak - bytes.begin())]);
  event["s"] = "t";
}

Json Timeline::events() {
  if (over_time_.seconds.empty()) {
    Json& event = add("i", "the profile ended before its third look");
    event["ts"] = 0;
    event["s"] = "t";
    return std::move(events_);
  }
  std::vector<double> all;
  for (std::size_t look = 0; look < over_time_.seconds.size(); ++look) {
    Json series = Json::object();
    all.push_back(0);
    for (const SiteOverTime& site : over_time_.sites) {
      series[series_of(site)] = whole(site.bytes[look]);
      all.back() += site.bytes[look];
    }
    add_counter("live bytes", look, {{"all", whole(all.back())}});
    add_counter("live bytes by site", look, std::move(series));
  }
  add_peak("all live bytes", all);
  for (const SiteOverTime& site : over_time_.sites) add_peak(series_of(site), site.bytes);
  return std::move(events_);
}

}  // namespace

Json timeline_json(const NamedProfile& profile) {
  const LiveOverTime over_time = live_over_time(profile, kMostSites);
  return {{"traceEvents", Timeline(profile, over_time).events()},
          {"displayTimeUnit", "ms"},
          {"otherData", {{"program", profile.program()}, {"library", profile.raw().library}}}};
}

}  // namespace tarn::profile
