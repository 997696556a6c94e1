// A group's axis says which rows stand beside each other; each of them is a column of a figure.
#include "bench/figures/group_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "bench/rows/catalogue.h"
#include "system/figures/format.h"

namespace tarn::tool {
namespace {

constexpr std::size_t kMostLines = 9;       // more cross too often to be followed
constexpr std::size_t kMostBarFigures = 6;  // rows that are alike are read better in one table
constexpr double kWidestBars = 20;          // beyond this span the short bars of a linear scale are all alike
constexpr double kDarkestTint = 20;         // times the best
constexpr const char* kLongestCall = "max_ns";
constexpr double kNanosecond = 1e-9;
constexpr double kMostPlainNanoseconds = 9999.5;

/// One place of a figure's axis: a figure of a row.
struct Column {
  std::string label;
  const RowSamples* row;
  std::string metric;

  std::vector<RowEntry> entries() const { return entries_of(*row, metric); }
};

struct Sweep {
  std::string title;
  std::string x_title;
  std::vector<Column> columns;
};

/// What every figure of a group needs to know of it.
struct GroupView {
  const BenchDocument& document;
  const GroupInfo& info;

  bool is_time() const { return std::string(info.unit) == "ns"; }
  FigureAxis axis() const;
  std::string text_of(double value) const;
};

FigureAxis GroupView::axis() const {
  if (is_time()) return {"time per operation; less is better", "ns"};
  if (std::string(info.unit) == "bytes") return {"resident memory; less is better", "bytes"};
  return {"ratio; less is better", ""};
}

std::string GroupView::text_of(double value) const {
  if (std::string(info.unit) == "bytes") return format_bytes(value);
  if (is_time() && value >= kMostPlainNanoseconds) return format_seconds(value * kNanosecond);
  return three_digits(value);
}

Spread spread_of(const Summary& summary) {
  return {summary.median, summary.lower_quartile, summary.upper_quartile};
}

double best_of(const std::vector<RowEntry>& entries) {
  double best = HUGE_VAL;
  for (const RowEntry& entry : entries)
    if (entry.own.median > 0) best = std::min(best, entry.own.median);
  return best;
}

Mark mark_of(const RowEntry& entry) {
  return entry.is_best ? Mark::kBest : entry.is_equal ? Mark::kEqual : Mark::kPlain;
}

/// "cold/64" is told in its title.
std::string name_without_cold(const BenchRow& row) {
  const std::string name = row.is_cold && row.name.starts_with("cold") ? row.name.substr(4) : row.name;
  return name.starts_with("/") ? name.substr(1) : name;
}

std::string joined(const std::string& one, const std::string& other) {
  return one.empty() || other.empty() ? one + other : one + ", " + other;
}

Bars bars_of(const GroupView& view, const std::string& title, const Column& column) {
  Bars bars = {.title = title, .note = {}, .axis = view.axis(), .bars = {}};
  std::vector<RowEntry> entries = column.entries();
  std::sort(entries.begin(), entries.end(),
            [](const RowEntry& a, const RowEntry& b) { return a.own.median < b.own.median; });
  for (const RowEntry& entry : entries) {
    if (entry.own.median <= 0) continue;
    const char* const note = entry.is_best ? "best" : entry.is_equal ? "equal to the best" : "";
    bars.bars.push_back({entry.contender, spread_of(entry.own), note});
  }
  if (!bars.bars.empty() && bars.bars.back().length.value > kWidestBars * bars.bars.front().length.value)
    bars.axis.scale = AxisScale::kLogarithmic;
  return bars;
}

std::vector<const RowSamples*> rows_in(const Sweep& sweep) {
  std::vector<const RowSamples*> rows;
  for (const Column& column : sweep.columns) rows.push_back(column.row);
  return rows;
}

Lines lines_of(const GroupView& view, const Sweep& sweep) {
  Lines lines = {sweep.title, {}, sweep.x_title, {}, view.axis(), {}};
  lines.y.scale = AxisScale::kLogarithmic;
  std::map<std::size_t, std::vector<Lines::Point>> points;
  for (std::size_t place = 0; place < sweep.columns.size(); ++place) {
    lines.labels.push_back(sweep.columns[place].label);
    for (const RowEntry& entry : sweep.columns[place].entries())
      if (entry.own.median > 0) points[entry.contender].push_back({place, spread_of(entry.own)});
  }
  for (auto& [contender, of_contender] : points) lines.series.push_back({contender, std::move(of_contender)});
  return lines;
}

PageCell grid_cell(const GroupView& view, const RowEntry& entry, double best) {
  if (entry.own.median <= 0) return {"–", Mark::kNone};
  const double times = entry.own.median / best;
  PageCell cell = {view.text_of(entry.own.median), mark_of(entry)};
  cell.note = fmt::format("{} of the best", three_digits(best / entry.own.median));
  cell.tint = std::min(1.0, std::log(times) / std::log(kDarkestTint));
  return cell;
}

/// A line of figures per contender, those that are best on average first.
PageTable grid_of(const GroupView& view, const Sweep& sweep) {
  PageTable table = {sweep.title, {}, {}, {{sweep.x_title}}, {}};
  table.note = view.is_time() ? "ns where no other unit stands; less is better" : view.axis().title;
  std::map<std::size_t, PageTable::Row> rows;
  std::map<std::size_t, std::vector<double>> ratios;
  const std::vector<std::size_t> contenders = contenders_in(rows_in(sweep));
  for (const std::size_t contender : contenders)
    rows[contender] = {{{view.document.contenders[contender].name}}, contender};
  for (const Column& column : sweep.columns) {
    table.heads.push_back({column.label});
    const std::vector<RowEntry> entries = column.entries();
    const double best = best_of(entries);
    for (auto& [contender, row] : rows) row.cells.push_back({"–", Mark::kNone});
    for (const RowEntry& entry : entries) {
      rows[entry.contender].cells.back() = grid_cell(view, entry, best);
      if (entry.own.median > 0) ratios[entry.contender].push_back(entry.own.median / best);
    }
  }
  for (auto& [contender, row] : rows) table.rows.push_back(std::move(row));
  const auto rank = [&](const PageTable::Row& row) {
    const std::vector<double>& own = ratios[*row.contender];
    return std::pair(-static_cast<double>(own.size()), geometric_mean(own).value_or(HUGE_VAL));
  };
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [&](const PageTable::Row& a, const PageTable::Row& b) { return rank(a) < rank(b); });
  return table;
}

std::string threads_text(unsigned threads) {
  return fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
}

std::string place_text(const Column& column, const std::string& x_title) {
  return x_title == "threads" ? threads_text(column.row->row.threads) : column.label + " " + x_title;
}

Json figure_of(const GroupView& view, const Sweep& sweep) {
  if (sweep.columns.size() == 1) {
    const Column& column = sweep.columns.front();
    return to_json(bars_of(view, joined(sweep.title, place_text(column, sweep.x_title)), column));
  }
  if (contenders_in(rows_in(sweep)).size() <= kMostLines) return to_json(lines_of(view, sweep));
  return to_json(grid_of(view, sweep));
}

/// Where two rows belong to one line: by their series, and what else would put both at one place.
std::string line_of(const BenchRow& row, bool is_by_bytes) {
  std::string more = threads_text(row.threads);
  if (!is_by_bytes) more = row.bytes == 0 ? "" : fmt::format("{} bytes", row.bytes);
  return row.series.find(more) == std::string::npos ? joined(row.series, more) : row.series;
}

std::vector<Sweep> sweeps_of(const std::vector<const RowSamples*>& rows, bool is_by_bytes,
                             const std::string& prefix) {
  std::vector<Sweep> sweeps;
  for (const RowSamples* row : rows) {
    std::string title = joined(prefix, line_of(row->row, is_by_bytes));
    if (title.empty()) title = "Over threads";
    auto sweep =
        std::find_if(sweeps.begin(), sweeps.end(), [&](const Sweep& one) { return one.title == title; });
    if (sweep == sweeps.end())
      sweep = sweeps.insert(sweeps.end(), {title, is_by_bytes ? "bytes" : "threads", {}});
    const std::size_t x = is_by_bytes ? row->row.bytes : row->row.threads;
    sweep->columns.push_back({std::to_string(x), row, row->row.metric});
  }
  return sweeps;
}

Json sweep_figures(const GroupView& view, const std::vector<const RowSamples*>& rows, bool is_by_bytes,
                   const std::string& prefix) {
  Json figures = Json::array();
  for (const Sweep& sweep : sweeps_of(rows, is_by_bytes, prefix)) figures.push_back(figure_of(view, sweep));
  return figures;
}

/// "p99.9" of "p99.9/threads/4", with the longest call behind the last.
Json percentile_figures(const GroupView& view, const std::vector<const RowSamples*>& rows) {
  Sweep sweep = {view.info.title, "percentile", {}};
  for (const RowSamples* row : rows)
    sweep.columns.push_back({row->row.name.substr(0, row->row.name.find('/')), row, row->row.metric});
  if (!entries_of(*rows.back(), kLongestCall).empty())
    sweep.columns.push_back({"max", rows.back(), kLongestCall});
  return Json::array({figure_of(view, sweep)});
}

/// Bars for a few rows, one table for many.
Json row_figures(const GroupView& view, const std::vector<const RowSamples*>& rows,
                 const std::string& prefix) {
  Json figures = Json::array();
  if (rows.size() > kMostBarFigures) {
    Sweep sweep = {prefix.empty() ? "All rows" : prefix, "row", {}};
    for (const RowSamples* row : rows)
      sweep.columns.push_back({name_without_cold(row->row), row, row->row.metric});
    figures.push_back(to_json(grid_of(view, sweep)));
    return figures;
  }
  for (const RowSamples* row : rows)
    figures.push_back(
        to_json(bars_of(view, joined(prefix, name_without_cold(row->row)), {{}, row, row->row.metric})));
  return figures;
}

constexpr double kMillisecond = 1e-3;
constexpr double kKib = 1024;

Json memory_over_time(const RowSamples& samples) {
  Curves curves = {joined(name_without_cold(samples.row), "Resident memory over time"),
                   {},
                   {"seconds", ""},
                   {"resident memory of the process; less is better", "bytes"},
                   {}};
  for (const auto& [contender, runs] : samples.runs) {
    Curves::Series series = {contender, {}, {}};
    for (const Json& point : runs.front().value("timeline", Json::array()))
      series.points.emplace_back(point.at(0).get<double>() * kMillisecond, point.at(1).get<double>() * kKib);
    if (!series.points.empty()) curves.series.push_back(std::move(series));
  }
  return to_json(curves);
}

Json time_figures(const GroupView& view, const std::vector<const RowSamples*>& rows) {
  Json figures = row_figures(view, rows, "At the end");
  for (const RowSamples* row : rows) figures.push_back(memory_over_time(*row));
  return figures;
}

Json figures_of_rows(const GroupView& view, const std::vector<const RowSamples*>& rows, Axis axis,
                     const std::string& prefix) {
  switch (axis) {
    case Axis::kBytes:
    case Axis::kThreads:
      return sweep_figures(view, rows, axis == Axis::kBytes, prefix);
    case Axis::kPercentile:
      return percentile_figures(view, rows);
    case Axis::kTime:
      return time_figures(view, rows);
    case Axis::kRow:
      break;
  }
  return row_figures(view, rows, prefix);
}

/// Sizes, unless the rows are all of one.
Axis axis_of_cold(const std::vector<const RowSamples*>& rows) {
  std::set<std::size_t> sizes;
  for (const RowSamples* row : rows) sizes.insert(row->row.bytes);
  return sizes.size() > 1 ? Axis::kBytes : Axis::kThreads;
}

/// What the page tells beside a row's figure: medians of the program's further figures.
std::string details_of(const RowSamples& samples, std::size_t contender) {
  static const std::set<std::string> kTold = {kPeakMemory, kMemoryAfter, "operations",
                                              "batches",   "rounds",     "timeline"};
  std::string text;
  for (const auto& [key, value] : samples.runs.at(contender).front().items()) {
    if (key == samples.row.metric || kTold.contains(key) || !value.is_number()) continue;
    text = joined(text, fmt::format("{} {}", key, three_digits(summary_of(samples, contender, key).median)));
  }
  return text;
}

PageCell median_cell(const GroupView& view, const RowSamples& samples, const RowEntry& entry) {
  PageCell cell = {view.text_of(entry.own.median), mark_of(entry)};
  cell.text += entry.is_best ? "*" : entry.is_equal ? "=" : "";
  if (entry.own.count > 1) cell.small = fmt::format("±{:.0f} %", entry.own.spread_percent());
  cell.note = details_of(samples, entry.contender);
  return cell;
}

PageTable table_of(const GroupView& view, const GroupSamples& group, const std::string& title) {
  PageTable table = {title, {}, {}, {{"row"}}, {}};
  for (const std::size_t contender : contenders_in(rows_of({&group})))
    table.heads.push_back({.text = view.document.contenders[contender].name, .contender = contender});
  const std::size_t count = group.rows.size();
  table.fold = fmt::format("{}: {}", count == 1 ? "The row" : fmt::format("All {} rows", count), title);
  return table;
}

/// A row of cells, one for each head; the contenders without a figure have none.
PageTable::Row row_of(const PageTable& table, const RowSamples& samples) {
  PageTable::Row row = {{{samples.row.name}}};
  row.cells.resize(table.heads.size(), {"–", Mark::kNone});
  return row;
}

std::size_t place_of(const PageTable& table, std::size_t contender) {
  const auto found = std::find_if(table.heads.begin(), table.heads.end(),
                                  [&](const PageCell& head) { return head.contender == contender; });
  return static_cast<std::size_t>(found - table.heads.begin());
}

std::string mebibytes(double bytes) { return bytes > 0 ? three_digits(bytes / (1 << 20)) : "–"; }

}  // namespace

Json figures_of_group(const BenchDocument& document, const GroupSamples& group) {
  const GroupView view = {document, *find_group(group.name)};
  std::vector<const RowSamples*> warm;
  std::vector<const RowSamples*> cold;
  for (const RowSamples* row : rows_of({&group})) (row->row.is_cold ? cold : warm).push_back(row);
  // A group of cold rows only says so itself: they are what it is about.
  if (warm.empty()) return cold.empty() ? Json::array() : figures_of_rows(view, cold, view.info.axis, {});
  Json figures = figures_of_rows(view, warm, view.info.axis, {});
  if (cold.empty()) return figures;
  for (const Json& one : figures_of_rows(view, cold, axis_of_cold(cold), "First batch in a fresh process"))
    figures.push_back(one);
  return figures;
}

Json tables_of_group(const BenchDocument& document, const GroupSamples& group) {
  const GroupView view = {document, *find_group(group.name)};
  PageTable medians = table_of(view, group, std::string("medians") + (view.is_time() ? ", ns" : ""));
  medians.note = "± half the distance between the quartiles; * best, = equal to the best within the noise.";
  PageTable memory = table_of(view, group, "resident memory, peak / after, MiB");
  for (const RowSamples* samples : rows_of({&group})) {
    PageTable::Row median_row = row_of(medians, *samples);
    PageTable::Row memory_row = row_of(memory, *samples);
    for (const RowEntry& entry : entries_of(*samples)) {
      const std::size_t place = place_of(medians, entry.contender);
      const auto bytes = [&](const char* when) { return summary_of(*samples, entry.contender, when).median; };
      median_row.cells[place] = median_cell(view, *samples, entry);
      memory_row.cells[place] = {mebibytes(bytes(kPeakMemory)) + " / " + mebibytes(bytes(kMemoryAfter))};
    }
    medians.rows.push_back(std::move(median_row));
    memory.rows.push_back(std::move(memory_row));
  }
  return Json::array({to_json(medians), to_json(memory)});
}

std::vector<std::size_t> contenders_in(const std::vector<const RowSamples*>& rows) {
  std::set<std::size_t> found;
  for (const RowSamples* row : rows)
    for (const RowEntry& entry : entries_of(*row)) found.insert(entry.contender);
  return {found.begin(), found.end()};
}

std::vector<const RowSamples*> rows_of(const std::vector<const GroupSamples*>& groups) {
  std::vector<const RowSamples*> rows;
  for (const GroupSamples* group : groups)
    for (const RowSamples& samples : group->rows)
      if (!entries_of(samples).empty()) rows.push_back(&samples);
  return rows;
}

std::string three_digits(double value) {
  const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}", value, decimals);
}

}  // namespace tarn::tool
