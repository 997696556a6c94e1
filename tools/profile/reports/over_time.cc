#include "profile/reports/over_time.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>
#include <unordered_map>

#include "profile/names/function_name.h"

namespace tarn::profile {
namespace {

constexpr std::size_t kFewestLooks = 3;

double most_of(const SiteOverTime& site) { return *std::ranges::max_element(site.bytes); }

/// Sites, and which of them a stack is of.
class SitesOverTime {
 public:
  explicit SitesOverTime(const NamedProfile& profile) : looks_(profile.raw().looks) {
    const std::vector<ProfileStack>& raw = profile.raw().stacks;
    for (std::size_t i = 0; i < raw.size(); ++i) add(profile.stacks()[i], raw[i].number);
    for (std::size_t look = 0; look < looks_.size(); ++look)
      for (const auto& [stack, bytes] : looks_[look].bytes)
        if (const auto found = site_of_.find(stack); found != site_of_.end())
          sites_[found->second].bytes[look] += bytes;
  }

  std::vector<SiteOverTime> by_most() {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < sites_.size(); ++i)
      if (const double most = most_of(sites_[i]); most >= 0.5) order.emplace_back(most, i);
    std::ranges::stable_sort(order, std::greater<>(), &std::pair<double, std::size_t>::first);
    std::vector<SiteOverTime> sorted;
    for (const auto& [most, i] : order) sorted.push_back(std::move(sites_[i]));
    return sorted;
  }

 private:
  void add(const NamedStack& stack, std::uint64_t number) {
    const Frame* const frame = stack.site();
    const std::string name = frame == nullptr ? "[no stack]" : short_name(frame->function);
    const std::string place = frame == nullptr ? "" : place_in_words(*frame);
    const auto [entry, is_new] = numbers_.try_emplace({name, place, stack.pool}, sites_.size());
    if (is_new) sites_.push_back({name, place, stack.pool, std::vector<double>(looks_.size())});
    site_of_[number] = entry->second;
  }

  const std::vector<LiveLook>& looks_;
  std::vector<SiteOverTime> sites_;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> numbers_;
  std::unordered_map<std::uint64_t, std::size_t> site_of_;
};

}  // namespace

LiveOverTime live_over_time(const NamedProfile& profile, std::size_t most_sites) {
  const std::vector<LiveLook>& looks = profile.raw().looks;
  LiveOverTime result;
  if (looks.size() < kFewestLooks) return result;
  result.sites = SitesOverTime(profile).by_most();
  result.sites.resize(std::min(result.sites.size(), most_sites));
  // Also what was live at a look, and of a stack that is not in the profile any more.
  SiteOverTime others{.name = "[other sites]"}, older{.name = kOlder};
  for (std::size_t look = 0; look < looks.size(); ++look) {
    double rest = looks[look].other_bytes;
    for (const auto& [stack, bytes] : looks[look].bytes) rest += bytes;
    for (const SiteOverTime& site : result.sites) rest -= site.bytes[look];
    others.bytes.push_back(std::max(rest, 0.0));
    older.bytes.push_back(looks[look].older_bytes);
    result.seconds.push_back(looks[look].seconds);
  }
  for (SiteOverTime* const last : {&others, &older})
    if (most_of(*last) >= 0.5) result.sites.push_back(std::move(*last));
  return result;
}

std::string bars_over_time(const SiteOverTime& site, const std::vector<double>& seconds, std::size_t bars) {
  constexpr std::array<const char*, 8> kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const double most = most_of(site);
  std::string text;
  std::size_t look = 0;
  double bytes = 0;
  for (std::size_t bar = 0; bar < bars; ++bar) {
    // The most that a look of this part has; of a part without a look, what was there before.
    const double end = seconds.back() * static_cast<double>(bar + 1) / static_cast<double>(bars);
    if (look < seconds.size() && seconds[look] <= end) bytes = 0;
    for (; look < seconds.size() && (seconds[look] <= end || bar + 1 == bars); ++look)
      bytes = std::max(bytes, site.bytes[look]);
    const double level = most > 0 ? bytes / most * (kBars.size() - 1) : 0;
    text += kBars[static_cast<std::size_t>(std::clamp(std::round(level), 0.0, kBars.size() - 1.0))];
  }
  return text;
}

Json to_json(const LiveOverTime& over_time) {
  Json sites = Json::array();
  for (const SiteOverTime& site : over_time.sites) {
    Json bytes = Json::array();
    for (const double one : site.bytes) bytes.push_back(whole(one));
    sites.push_back({{"function", site.name},
                     {"place", site.place},
                     {"pool", pool_json(site.pool)},
                     {"bytes", std::move(bytes)}});
  }
  return {{"seconds", over_time.seconds}, {"sites", std::move(sites)}};
}

}  // namespace tarn::profile
