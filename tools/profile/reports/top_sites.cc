#include "profile/reports/top_sites.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

#include "observer/text/printable.h"
#include "observer/text/words.h"
#include "profile/stacks/function_name.h"

namespace tarn::profile {
namespace {

constexpr std::size_t kLeastColumns = 40, kFigureColumns = 33, kGap = 2;

/// How a row's free columns are shared out.
struct Widths {
  std::size_t function, place, pool;
};

std::string place_of(const Frame& frame) {
  const std::string file = frame.file.substr(frame.file.rfind('/') + 1);
  return frame.line == 0 ? file : fmt::format("{}:{}", file, frame.line);
}

/// A place and a pool take what they need, up to a third of the row each.
Widths widths_of(const std::vector<Site>& sites, std::size_t columns) {
  const std::size_t room = std::max(columns, kLeastColumns) - kFigureColumns;
  Widths widths{0, 0, 0};
  for (const Site& site : sites) {
    widths.place = std::max(widths.place, observer::columns_of(place_of(site.frame)));
    widths.pool = std::max(widths.pool, observer::columns_of(site.pool));
  }
  const std::size_t gaps = (widths.place != 0 ? kGap : 0) + (widths.pool != 0 ? kGap : 0);
  widths.place = std::min(widths.place, room / 3);
  widths.pool = std::min(widths.pool, room / 4);
  const std::size_t taken = widths.place + widths.pool + gaps;
  widths.function = room > taken ? room - taken : 1;
  return widths;
}

std::string padded(const std::string& text, std::size_t columns) {
  return text + std::string(columns - std::min(columns, observer::columns_of(text)), ' ');
}

std::string row(const std::string& bytes, const std::string& blocks, const std::string& share,
                const Widths& widths, const Site& site) {
  std::string line = fmt::format("{:>9}  {:>11}  {:>7}  ", bytes, blocks, share);
  line += padded(observer::with_end_cut(site.frame.function, widths.function), widths.function);
  if (widths.place != 0)
    line += "  " + padded(observer::with_start_cut(place_of(site.frame), widths.place), widths.place);
  if (widths.pool != 0) line += "  " + observer::with_end_cut(site.pool, widths.pool);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

/// A sentence about the wrappers that stand in no row; "" where there are none.
std::string remark_on_wrappers(const NamedProfile& profile, Measure measure) {
  constexpr std::size_t kMostNames = 6;
  std::map<std::string, double> bytes_of;
  for (const NamedStack& stack : profile.stacks())
    for (const Frame* const frame : stack.skipped_wrappers())
      bytes_of[std::string(last_name(frame->function))] += stack.amount(measure).bytes;
  std::vector<std::pair<double, std::string>> names;
  for (const auto& [name, bytes] : bytes_of)
    if (bytes >= 0.5) names.emplace_back(bytes, name);
  std::sort(names.begin(), names.end(), std::greater<>());
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMostNames; ++i)
    text += (i == 0 ? "" : ", ") + names[i].second;
  if (names.size() > kMostNames) text += fmt::format(" and {} more", names.size() - kMostNames);
  return text.empty() ? "" : "Skipped as forms of malloc, their callers are told: " + text + ".";
}

}  // namespace

std::vector<Site> sites_of(const NamedProfile& profile, Measure measure) {
  std::map<std::tuple<std::string, std::string, unsigned, std::string>, Site> sites;
  for (const NamedStack& stack : profile.stacks()) {
    if (stack.amount(measure).bytes < 0.5) continue;
    const Frame none{.function = "[no stack]"};
    const Frame& frame = stack.site() == nullptr ? none : *stack.site();
    Site& site = sites[{frame.function, frame.file, frame.line, stack.pool}];
    site.frame = frame;
    site.pool = stack.pool;
    site.amount += stack.amount(measure);
  }
  std::vector<Site> sorted;
  for (auto& [key, site] : sites) sorted.push_back(std::move(site));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Site& a, const Site& b) { return a.amount.bytes > b.amount.bytes; });
  return sorted;
}

std::string top_sites_text(const NamedProfile& profile, Measure measure, std::size_t rows,
                           std::size_t columns) {
  std::vector<Site> sites = sites_of(profile, measure);
  const Amount total = profile.total(measure);
  const std::size_t all = sites.size();
  if (rows != 0 && rows < all) sites.resize(rows);
  const Widths widths = widths_of(sites, columns);
  const char* const what = measure == Measure::kLive ? "live" : "allocated";
  std::string text = fmt::format("{} in {} {}\n\n", observer::short_bytes(total.bytes),
                                 observer::counted_estimate(total.blocks, "block"), what);
  const Site heading{.frame = {.function = "function"}, .pool = "pool", .amount = {}};
  text += row("bytes", "blocks", "share", {widths.function, 0, 0}, heading);
  for (const Site& site : sites)
    text += row(observer::short_bytes(site.amount.bytes), observer::estimate_in_words(site.amount.blocks),
                observer::share_in_words(site.amount.bytes, total.bytes), widths, site);
  if (sites.size() < all) text += fmt::format("and {} more sites\n", all - sites.size());
  if (const std::string remark = remark_on_wrappers(profile, measure); !remark.empty()) text += remark + "\n";
  for (const std::string& remark : profile.remarks()) text += remark + "\n";
  return text;
}

}  // namespace tarn::profile
