// What was live over the time of a profile, by site.
#pragma once
#include <string>
#include <vector>

#include "profile/stacks/json.h"
#include "profile/stacks/named_profile.h"

namespace tarn::profile {

struct SiteOverTime {
  std::string name, place = {}, pool = {};  // place: "build.cc:12", or ""
  std::vector<double> bytes = {};           // at each look
};

struct LiveOverTime {
  std::vector<double> seconds;  // of each look, since the start
  std::vector<SiteOverTime> sites;
};

/// The sites that had the most live bytes at some look, the greatest first; behind them "[other sites]" and
/// what is older than the profile, where there is some. Empty of a profile with fewer than three looks.
LiveOverTime live_over_time(const NamedProfile& profile, std::size_t most_sites);

/// A bar for each of so many parts of the time, with the most it had then: "▁▂▄█". \param seconds of looks
std::string bars_over_time(const SiteOverTime& site, const std::vector<double>& seconds, std::size_t bars);

/// {"seconds": [...], "sites": [{"function", "place", "pool", "bytes": [...]}]}
Json to_json(const LiveOverTime& over_time);

}  // namespace tarn::profile
