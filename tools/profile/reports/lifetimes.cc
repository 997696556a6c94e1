#include "profile/reports/lifetimes.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include "observer/text/printable.h"
#include "observer/text/words.h"
#include "profile/reports/top_sites.h"

namespace tarn::profile {
namespace {

struct Lifetimes {
  std::string site;
  Amount allocated = {};
  double in_millisecond = 0, in_second = 0, live = 0;  // bytes

  void add(const NamedStack& stack) {
    allocated += stack.allocated;
    in_millisecond += stack.temporary.bytes;
    in_second += stack.second_bytes;
    live += stack.new_live_bytes;
  }
  /// \why bounds: each figure is an estimate of its own
  double up_to_second() const { return std::clamp(in_second - in_millisecond, 0.0, allocated.bytes); }
  double beyond_second() const {
    return std::max(0.0, allocated.bytes - std::max(in_second, in_millisecond));
  }
  double still_live() const { return std::min(live, beyond_second()); }
};

std::string site_in_words(const NamedStack& stack, NameForm names) {
  std::string words = "[no stack]";
  if (const Frame* const site = stack.site()) {
    Frame frame = *site;
    frame.function = name_of(frame.function, names);
    words = frame_in_words(frame);
  }
  return stack.pool.empty() ? words : words + " in " + stack.pool;
}

std::vector<Lifetimes> by_allocated(const NamedProfile& profile, NameForm names) {
  std::map<std::string, Lifetimes> sites;
  for (const NamedStack& stack : profile.stacks()) {
    if (stack.allocated.bytes < 0.5) continue;
    const std::string site = site_in_words(stack, names);
    sites.try_emplace(site, Lifetimes{site}).first->second.add(stack);
  }
  std::vector<Lifetimes> sorted;
  for (auto& [words, site] : sites) sorted.push_back(std::move(site));
  std::ranges::stable_sort(sorted, std::greater<>(),
                           [](const Lifetimes& site) { return site.allocated.bytes; });
  return sorted;
}

std::string line_of(const Lifetimes& site, const HeapProfile& profile, std::size_t columns) {
  const double allocated = site.allocated.bytes;
  const auto share = [&](double bytes) {
    return observer::share_in_words(std::min(bytes, allocated), allocated);
  };
  const std::string line =
      fmt::format("{:>9}  {:>6}  {:>7}  {:>7}  {:>7}  {:>7}  {}", observer::short_bytes(allocated),
                  error_in_words(site.allocated, Measure::kAllocated, profile), share(site.in_millisecond),
                  share(site.up_to_second()), share(site.beyond_second() - site.still_live()),
                  share(site.still_live()), site.site);
  return observer::with_end_cut(line, columns) + "\n";
}

}  // namespace

std::string lifetimes_text(const NamedProfile& profile, const LifetimesShape& shape) {
  const std::vector<Lifetimes> sites = by_allocated(profile, shape.names);
  std::string text = fmt::format("{} allocated; freed within a millisecond, a second, later, and live\n\n",
                                 observer::short_bytes(profile.total(Measure::kAllocated).bytes));
  text += fmt::format("{:>9}  {:>6}  {:>7}  {:>7}  {:>7}  {:>7}  function\n", "allocated", "error", "≤ 1 ms",
                      "≤ 1 s", "longer", "live");
  std::size_t rows = 0;
  for (const Lifetimes& site : sites) {
    if (shape.rows != 0 && rows++ == shape.rows) break;
    text += line_of(site, profile.raw(), shape.columns);
  }
  if (shape.rows != 0 && sites.size() > shape.rows)
    text += fmt::format("and {} more sites\n", sites.size() - shape.rows);
  for (const std::string& remark : profile.remarks()) text += remark + "\n";
  return text;
}

}  // namespace tarn::profile
