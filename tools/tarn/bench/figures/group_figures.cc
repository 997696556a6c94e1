// A group's axis says which rows stand beside each other; each of them is a column of a figure.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "bench/figures/bench_report.h"
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
struct FigureColumn {
  std::string label;
  const RowSamples* row;
  std::string metric;

  std::vector<RowEntry> entries() const { return entries_of(*row, metric); }
};

struct Sweep {
  std::string title;
  std::string x_title;
  std::vector<FigureColumn> columns;
};

/// What every figure of a group needs to know of it.
struct GroupView {
  const BenchDocument& document;
  const GroupInfo& info;

  bool is_time() const { return is_of_times(info); }
  Json axis(AxisScale scale) const;
  std::string text_of(double value) const;
};

Json GroupView::axis(AxisScale scale) const {
  if (is_time()) return page_axis("time per operation; less is better", "ns", scale);
  if (std::string(info.unit) == "bytes") return page_axis("resident memory; less is better", "bytes", scale);
  return page_axis("ratio; less is better", "", scale);
}

/// "12.3"
std::string three_digits(double value) {
  const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}", value, decimals);
}

std::string GroupView::text_of(double value) const {
  if (std::string(info.unit) == "bytes") return format_bytes(value);
  if (is_time() && value >= kMostPlainNanoseconds) return format_seconds(value * kNanosecond);
  return three_digits(value);
}

/// "cold/64" is told in its title.
std::string name_without_cold(const BenchRow& row) {
  const std::string name = row.is_cold && row.name.starts_with("cold") ? row.name.substr(4) : row.name;
  return name.starts_with("/") ? name.substr(1) : name;
}

std::string joined(const std::string& one, const std::string& other) {
  return one.empty() || other.empty() ? one + other : one + ", " + other;
}

Json bars_of(const GroupView& view, const std::string& title, const FigureColumn& column) {
  std::vector<RowEntry> entries = column.entries();
  std::erase_if(entries, [](const RowEntry& entry) { return entry.own.median <= 0; });
  std::sort(entries.begin(), entries.end(),
            [](const RowEntry& a, const RowEntry& b) { return a.own.median < b.own.median; });
  const bool is_wide =
      !entries.empty() && entries.back().own.median > kWidestBars * entries.front().own.median;
  Json bars = bars_part(title, {}, view.axis(is_wide ? AxisScale::kLogarithmic : AxisScale::kLinear));
  for (const RowEntry& entry : entries)
    add_bar(bars, entry.contender, entry.own,
            entry.mark == Mark::kBest    ? "best"
            : entry.mark == Mark::kEqual ? "equal to the best"
                                         : "");
  return bars;
}

Json lines_of(const GroupView& view, const Sweep& sweep) {
  Json labels = Json::array();
  std::map<std::size_t, Json> points;  // by contender
  for (const FigureColumn& column : sweep.columns) {
    for (const RowEntry& entry : column.entries())
      if (entry.own.median > 0) points[entry.contender].push_back(line_point(labels.size(), entry.own));
    labels.push_back(column.label);
  }
  Json lines = lines_part(sweep.title, sweep.x_title, std::move(labels), view.axis(AxisScale::kLogarithmic));
  for (auto& [contender, of_contender] : points)
    add_series(lines, {{"c", contender}}, std::move(of_contender));
  return lines;
}

Json grid_cell(const GroupView& view, const RowEntry* entry) {
  if (entry == nullptr || entry->own.median <= 0) return no_figure_cell();
  return page_cell(view.text_of(entry->own.median), entry->mark,
                   {{"note", fmt::format("{} of the best", three_digits(1 / entry->times_the_best))},
                    {"tint", std::min(1.0, std::log(entry->times_the_best) / std::log(kDarkestTint))}});
}

/// A line of figures per contender, those of most rows first, and of these the best on average.
Json grid_of(const GroupView& view, const Sweep& sweep) {
  Json heads = Json::array({sweep.x_title});
  std::vector<std::vector<RowEntry>> columns;
  for (const FigureColumn& column : sweep.columns) {
    heads.push_back(column.label);
    columns.push_back(column.entries());
  }
  Json table = table_part(sweep.title,
                          view.is_time() ? "ns where no other unit stands; less is better"
                                         : view.axis(AxisScale::kLinear).at("title").get<std::string>(),
                          std::move(heads));
  std::vector<Mean> means = means_of(columns);
  std::stable_sort(means.begin(), means.end(), [](const Mean& a, const Mean& b) {
    return std::pair(b.row_count, a.times_the_best) < std::pair(a.row_count, b.times_the_best);
  });
  for (const Mean& mean : means) {
    Json cells = Json::array({view.document.contenders[mean.contender].name});
    for (const std::vector<RowEntry>& column : columns)
      cells.push_back(grid_cell(view, find_of(column, mean.contender)));
    table["rows"].push_back(contender_row(mean.contender, std::move(cells)));
  }
  return table;
}

std::string threads_text(unsigned threads) {
  return fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
}

std::string place_text(const FigureColumn& column, const std::string& x_title) {
  return x_title == "threads" ? threads_text(column.row->row.threads) : column.label + " " + x_title;
}

Json figure_of(const GroupView& view, const Sweep& sweep) {
  if (sweep.columns.size() == 1) {
    const FigureColumn& column = sweep.columns.front();
    return bars_of(view, joined(sweep.title, place_text(column, sweep.x_title)), column);
  }
  std::vector<const RowSamples*> rows;
  for (const FigureColumn& column : sweep.columns) rows.push_back(column.row);
  return contenders_in(rows).size() <= kMostLines ? lines_of(view, sweep) : grid_of(view, sweep);
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
    figures.push_back(grid_of(view, sweep));
    return figures;
  }
  for (const RowSamples* row : rows)
    figures.push_back(bars_of(view, joined(prefix, name_without_cold(row->row)), {{}, row, row->row.metric}));
  return figures;
}

constexpr double kMillisecond = 1e-3;
constexpr double kKib = 1024;

Json memory_over_time(const RowSamples& samples) {
  Json curves = curves_part(joined(name_without_cold(samples.row), "Resident memory over time"), {},
                            page_axis("seconds", ""),
                            page_axis("resident memory of the process; less is better", "bytes"));
  for (const auto& [contender, runs] : samples.runs) {
    Json points = Json::array();
    for (const Json& point : runs.front().value("timeline", Json::array()))
      points.push_back(
          curve_point(point.at(0).get<double>() * kMillisecond, point.at(1).get<double>() * kKib));
    add_series(curves, {{"c", contender}}, std::move(points));
  }
  return curves;
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

Json median_cell(const GroupView& view, const RowSamples& samples, const RowEntry& entry) {
  std::string text = view.text_of(entry.own.median);
  if (entry.mark != Mark::kPlain) text += sign_of(entry.mark);
  const bool has_spread = entry.own.count > 1;
  return page_cell(text, entry.mark,
                   {{"small", has_spread ? fmt::format("±{:.0f} %", entry.own.spread_percent()) : ""},
                    {"note", details_of(samples, entry.contender)}});
}

std::string mebibytes(const RowSamples& samples, std::size_t contender, const char* metric) {
  const double bytes = summary_of(samples, contender, metric).median;
  return bytes > 0 ? three_digits(bytes / (1 << 20)) : "–";
}

/// \param cell_of gives the cell of a contender's entry in a row
template <class CellOf>
Json table_of(const GroupView& view, const GroupSamples& group, const std::string& title,
              const std::string& note, const CellOf& cell_of) {
  const std::vector<const RowSamples*> rows = rows_of({&group});
  const std::vector<std::size_t> contenders = contenders_in(rows);
  const std::size_t count = group.rows.size();
  Json heads = Json::array({"row"});
  for (const std::size_t contender : contenders)
    heads.push_back(page_cell(view.document.contenders[contender].name, Mark::kPlain, {{"c", contender}}));
  Json table =
      table_part(title, note, std::move(heads),
                 fmt::format("{}: {}", count == 1 ? "The row" : fmt::format("All {} rows", count), title));
  for (const RowSamples* row : rows) {
    const std::vector<RowEntry> entries = entries_of(*row);
    Json cells = Json::array({row->row.name});
    for (const std::size_t contender : contenders) {
      const RowEntry* const entry = find_of(entries, contender);
      cells.push_back(entry == nullptr ? no_figure_cell() : cell_of(*row, *entry));
    }
    table["rows"].push_back(std::move(cells));
  }
  return table;
}

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
  return Json::array(
      {table_of(view, group, std::string("medians") + (view.is_time() ? ", ns" : ""),
                "± half the distance between the quartiles; * best, = equal to the best within the noise.",
                [&](const RowSamples& row, const RowEntry& entry) { return median_cell(view, row, entry); }),
       table_of(view, group, "resident memory, peak / after, MiB", {},
                [](const RowSamples& row, const RowEntry& entry) {
                  return page_cell(mebibytes(row, entry.contender, kPeakMemory) + " / " +
                                   mebibytes(row, entry.contender, kMemoryAfter));
                })});
}

}  // namespace tarn::tool
