#include "profile/reports/growth.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "observer/text/printable.h"
#include "observer/text/words.h"
#include "profile/names/function_name.h"
#include "tarn/version.h"

namespace tarn::profile {
namespace {

using ByKey = std::map<std::string, StackGrowth>;

/// Adds up stacks of two sides, one at a time: a profile may have a million.
class GrowthSum {
 public:
  explicit GrowthSum(SameStack same) : same_(same) {}

  void add(std::vector<Frame> frames, const std::string& pool, const Amount& live,
           Amount StackGrowth::*side) {
    std::string key = pool + '\n';
    for (const Frame& frame : frames) {
      key += frame.function;
      if (same_ == SameStack::kLines) key += fmt::format("\t{}:{}", frame.file, frame.line);
      key += '\n';
    }
    StackGrowth& growth = by_key_[std::move(key)];
    growth.frames = std::move(frames);
    growth.pool = pool;
    growth.*side += live;
  }
  void add(const NamedProfile& profile, Amount StackGrowth::*side) {
    for (const NamedStack& stack : profile.stacks()) add(stack.frames(), stack.pool, stack.live, side);
  }
  ByKey take() { return std::move(by_key_); }

 private:
  const SameStack same_;
  ByKey by_key_;
};

std::vector<StackGrowth> sorted(ByKey by_key) {
  std::vector<StackGrowth> sorted;
  for (auto& [key, growth] : by_key)
    if (growth.bytes() != 0 || growth.blocks() != 0) sorted.push_back(std::move(growth));
  std::ranges::stable_sort(sorted, std::greater<>(), [](const StackGrowth& one) { return one.bytes(); });
  return sorted;
}

std::string site_in_words(const StackGrowth& growth) {
  if (growth.frames.empty()) return "[no stack]";
  Frame site = growth.frames[site_of(growth.frames)];
  site.function = short_name(site.function);
  return frame_in_words(site);
}

/// With functions of two builds, a site has the line of the later one.
std::vector<StackGrowth> by_site(const std::vector<StackGrowth>& stacks, SameStack same) {
  ByKey by_key;
  for (const StackGrowth& stack : stacks) {
    const std::string name = same == SameStack::kLines || stack.frames.empty()
                                 ? site_in_words(stack)
                                 : short_name(stack.frames[site_of(stack.frames)].function);
    StackGrowth& site = by_key[name + '\n' + stack.pool];
    if (site.frames.empty() || stack.after.bytes > 0) site.frames = stack.frames;
    site.pool = stack.pool;
    site.before += stack.before;
    site.after += stack.after;
  }
  return sorted(std::move(by_key));
}

constexpr std::size_t kBars = 8;

/// The bars of each site that has some, by its words and pool.
using BarsOfSites = std::map<std::string, std::string>;

BarsOfSites bars_of(const LiveOverTime& over_time) {
  BarsOfSites bars;
  if (over_time.seconds.size() < kBars) return bars;
  for (const SiteOverTime& site : over_time.sites)
    bars[(site.place.empty() ? site.name : fmt::format("{} ({})", site.name, site.place)) + '\n' +
         site.pool] = bars_over_time(site, over_time.seconds, kBars);
  return bars;
}

std::string line_of(const StackGrowth& growth, const BarsOfSites& bars, std::size_t columns) {
  const std::string site = site_in_words(growth);
  std::string line =
      fmt::format("{:>10}  {:>11}  ", observer::change_in_bytes(growth.bytes()),
                  (growth.blocks() >= 0.5 ? "+" : "") + observer::estimate_in_words(growth.blocks()));
  if (!bars.empty()) {
    const auto found = bars.find(site + '\n' + growth.pool);
    line += (found == bars.end() ? std::string(kBars, ' ') : found->second) + "  ";
  }
  line += site;
  if (!growth.pool.empty()) line += " in " + growth.pool;
  return observer::with_end_cut(line, columns) + "\n";
}

FrameRole role_in(const Json& json) {
  const std::string role = json.value("role", std::string());
  return role == "wrapper"   ? FrameRole::kWrapper
         : role == "library" ? FrameRole::kLibrary
                             : FrameRole::kProgram;
}

Frame frame_in(const Json& json) {
  const auto text = [&](const char* key) { return observer::printable(json.value(key, std::string())); };
  Frame frame{text("function"), text("file"), json.value("line", 0u), json.value("inlined", false)};
  frame.role = role_in(json);
  return frame;
}

void add_document(const Json& profile, Amount StackGrowth::*side, GrowthSum& sum) {
  for (const Json& json : profile.at("stacks")) {
    const Json &pool = json.at("pool"), &live = json.at("live");
    std::vector<Frame> frames;
    for (const Json& frame : json.at("frames")) frames.push_back(frame_in(frame));
    sum.add(std::move(frames), pool.is_null() ? "" : observer::printable(pool.get<std::string>()),
            {live.at("blocks"), live.at("bytes")}, side);
  }
}

double older_bytes(const NamedProfile& profile) {
  double bytes = 0;
  for (const NamedStack& stack : profile.stacks()) bytes += stack.is_older ? stack.live.bytes : 0;
  return bytes;
}

}  // namespace

std::vector<StackGrowth> growth_between(const NamedProfile& before, const NamedProfile& after) {
  GrowthSum sum(SameStack::kLines);
  sum.add(before, &StackGrowth::before);
  sum.add(after, &StackGrowth::after);
  return sorted(sum.take());
}

std::vector<StackGrowth> growth_between(const Json& before, const Json& after, SameStack same) {
  GrowthSum sum(same);
  add_document(before, &StackGrowth::before, sum);
  add_document(after, &StackGrowth::after, sum);
  return sorted(sum.take());
}

std::string remarks_on_growth(const NamedProfile& before, const NamedProfile& after) {
  std::string text;
  if (const double replaced = older_bytes(before) - older_bytes(after); replaced >= 1)
    text += fmt::format(
        "{} from before the profile was switched on became free meanwhile: so much of the growth may only "
        "stand in its place.\n",
        observer::short_bytes(replaced));
  for (const std::string& remark : after.remarks()) text += remark + "\n";
  return text;
}

std::string growth_text(const std::vector<StackGrowth>& stacks, const LiveOverTime& over_time,
                        const GrowthShape& shape) {
  const std::vector<StackGrowth> growth = by_site(stacks, shape.same);
  const BarsOfSites bars = bars_of(over_time);
  const auto first_less =
      std::find_if(growth.begin(), growth.end(), [](const StackGrowth& one) { return one.bytes() < 0; });
  const auto more = static_cast<std::size_t>(first_less - growth.begin()), less = growth.size() - more;
  const std::size_t most = shape.rows == 0 ? growth.size() : shape.rows;
  double sum = 0;
  for (const StackGrowth& one : growth) sum += one.bytes();
  std::string text = fmt::format("{} in all\n\n{:>10}  {:>11}  {}function\n",
                                 observer::change_in_bytes(std::abs(sum) < 0.5 ? 0 : sum), "bytes", "blocks",
                                 bars.empty() ? "" : fmt::format("{:{}}  ", "trend", kBars));
  for (std::size_t i = 0; i < std::min(more, most); ++i) text += line_of(growth[i], bars, shape.columns);
  if (more > most) text += fmt::format("and {} more that grew\n", more - most);
  for (std::size_t i = growth.size(); i > growth.size() - std::min(less, most); --i)
    text += line_of(growth[i - 1], bars, shape.columns);
  if (less > most) text += fmt::format("and {} more that shrank\n", less - most);
  return text;
}

Json growth_json(const std::vector<StackGrowth>& growth, const LiveOverTime& over_time) {
  Json json = {{"stacks", Json::array()}};
  for (const StackGrowth& one : growth)
    json["stacks"].push_back({{"pool", pool_json(one.pool)},
                              {"before", to_json(one.before)},
                              {"after", to_json(one.after)},
                              {"growth", {{"blocks", whole(one.blocks())}, {"bytes", whole(one.bytes())}}},
                              {"frames", to_json(one.frames)}});
  if (!over_time.seconds.empty()) json["over_time"] = to_json(over_time);
  return observer::document_json("tarn profile growth", 1, TARN_VERSION_STRING, json);
}

}  // namespace tarn::profile
