#include "profile/reports/top_sites.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>

#include "observer/text/printable.h"
#include "observer/text/words.h"

namespace tarn::profile {
namespace {

constexpr std::size_t kLeastColumns = 40, kGap = 2;

/// The columns of a table: figures, and how the free ones are shared out.
struct Columns {
  bool has_error;
  std::size_t name = 0, place = 0, pool = 0;

  std::size_t figures() const { return has_error ? 42 : 33; }
};

struct Row {
  std::string bytes, blocks, share, error, name, place, pool;
};

/// A place and a pool take what they need, up to a third of the row each.
Columns columns_for(const Row& head, const std::vector<Row>& rows, std::size_t columns, bool has_error) {
  Columns widths{.has_error = has_error, .name = head.name.size()};
  const std::size_t room = std::max(columns, kLeastColumns + widths.figures()) - widths.figures();
  for (const Row& row : rows) {
    widths.name = std::max(widths.name, observer::columns_of(row.name));
    widths.place = std::max(widths.place, observer::columns_of(row.place));
    widths.pool = std::max(widths.pool, observer::columns_of(row.pool));
  }
  const std::size_t gaps = (widths.place != 0 ? kGap : 0) + (widths.pool != 0 ? kGap : 0);
  widths.place = std::min(widths.place, room / 3);
  widths.pool = std::min(widths.pool, room / 4);
  const std::size_t taken = widths.place + widths.pool + gaps;
  widths.name = std::min(widths.name, room > taken ? room - taken : 1);
  return widths;
}

std::string padded(const std::string& text, std::size_t columns) {
  return text + std::string(columns - std::min(columns, observer::columns_of(text)), ' ');
}

std::string line_of(const Row& row, const Columns& widths) {
  std::string line = fmt::format("{:>9}  {:>11}  {:>7}  ", row.bytes, row.blocks, row.share);
  if (widths.has_error) line += fmt::format("{:>7}  ", row.error);
  line += padded(observer::with_end_cut(row.name, widths.name), widths.name);
  if (widths.place != 0)
    line += "  " + padded(observer::with_start_cut(row.place, widths.place), widths.place);
  if (widths.pool != 0) line += "  " + observer::with_end_cut(row.pool, widths.pool);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string name_in_row(const Site& site, const TableShape& shape) {
  if (!site.type.empty()) return site.type;
  Frame frame = site.frame;
  frame.function = name_of(frame.function, shape.names);
  if (shape.row_of == RowOf::kSite) return frame.function;
  return (frame.function.starts_with("[") ? "" : "no type: ") + frame_in_words(frame);
}

Row row_of(const Site& site, const TableShape& shape, const NamedProfile& profile, double total) {
  return {observer::short_bytes(site.amount.bytes),
          observer::estimate_in_words(site.amount.blocks),
          observer::share_in_words(site.amount.bytes, total),
          error_in_words(site.amount, shape.measure, profile.raw()),
          name_in_row(site, shape),
          shape.row_of == RowOf::kSite ? place_in_words(site.frame) : "",
          site.pool};
}

/// A sentence about the wrappers that stand in no row; "" where there are none.
std::string remark_on_wrappers(const NamedProfile& profile, Measure measure) {
  constexpr std::size_t kMostNames = 6;
  std::map<std::string, double> bytes_of;
  for (const NamedStack& stack : profile.stacks())
    for (const Frame* const frame : stack.skipped_wrappers())
      bytes_of[std::string(last_name(frame->function))] += stack.of(measure).bytes;
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

// Where samples of several intervals were added up, only live ones tell what each stands for.
std::string error_in_words(const Amount& amount, Measure measure, const HeapProfile& profile) {
  if (amount.squares == 0 || amount.bytes == 0) return "";
  const bool is_at_least = measure != Measure::kLive && profile.has_several_intervals();
  return fmt::format("{}{:.0f} %", is_at_least ? "≥" : "±",
                     std::clamp(100 * std::sqrt(amount.squares) / amount.bytes, 1.0, 100.0));
}

std::vector<Site> sites_of(const NamedProfile& profile, Measure measure, RowOf row_of, NameForm names) {
  std::map<std::tuple<std::string, std::string, unsigned, std::string>, Site> sites;
  for (const NamedStack& stack : profile.stacks()) {
    if (stack.of(measure).bytes < 0.5) continue;
    Site found{.pool = stack.pool};
    if (row_of == RowOf::kType && stack.type != nullptr)
      found.type = *stack.type;
    else
      found.frame = stack.site() == nullptr ? Frame{.function = "[no stack]"} : *stack.site();
    const Frame& frame = found.frame;
    const std::string name = name_of(frame.function, names) + '\n' + found.type;
    Site& site = sites[{name, frame.file, frame.line, stack.pool}];
    if (site.amount.bytes == 0) site = std::move(found);
    site.amount += stack.of(measure);
  }
  std::vector<Site> sorted;
  for (auto& [key, site] : sites) sorted.push_back(std::move(site));
  std::ranges::stable_sort(sorted, std::greater<>(), [](const Site& site) { return site.amount.bytes; });
  return sorted;
}

std::string top_sites_text(const NamedProfile& profile, const TableShape& shape) {
  const std::vector<Site> sites = sites_of(profile, shape.measure, shape.row_of, shape.names);
  const Amount total = profile.total(shape.measure);
  double typed = 0;
  for (const Site& site : sites) typed += site.type.empty() ? 0 : site.amount.bytes;
  std::vector<Row> rows;
  for (const Site& site : sites)
    if (shape.rows == 0 || rows.size() < shape.rows)
      rows.push_back(row_of(site, shape, profile, total.bytes));
  const bool is_of_types = shape.row_of == RowOf::kType;
  const Row head{"bytes", "blocks", "share", "error", is_of_types ? "type" : "function", "", "pool"};
  const Columns widths = columns_for(head, rows, shape.columns, profile.raw().interval_bytes > 1);
  std::string text = fmt::format("{} in {} {}", observer::short_bytes(total.bytes),
                                 observer::counted_estimate(total.blocks, "block"), name_of(shape.measure));
  if (is_of_types)
    text += fmt::format("; the type is known of {}", observer::share_in_words(typed, total.bytes));
  text += "\n\n" + line_of(head, widths);
  for (const Row& row : rows) text += line_of(row, widths);
  if (rows.size() < sites.size())
    text += fmt::format("and {} more {}\n", sites.size() - rows.size(), is_of_types ? "rows" : "sites");
  if (const std::string remark = remark_on_wrappers(profile, shape.measure); !remark.empty())
    text += remark + "\n";
  for (const std::string& remark : profile.remarks()) text += remark + "\n";
  return text;
}

}  // namespace tarn::profile
