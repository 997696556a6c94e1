#include "profile/diff/figure_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "observer/text/printable.h"
#include "observer/text/words.h"
#include "profile/stacks/json.h"
#include "tarn/version.h"

namespace tarn::tool {
namespace {

struct ChangedRow {
  std::string name;
  std::vector<double> before, after;

  std::vector<double> change() const {
    std::vector<double> change(after.size());
    std::ranges::transform(after, before, change.begin(), std::minus<>());
    return change;
  }
};

using RowsByName = std::map<std::string, ChangedRow>;

void add_rows(const FigureTable& table, std::vector<double> ChangedRow::*side, RowsByName& rows) {
  for (const FigureTable::Row& row : table.rows) {
    ChangedRow& changed = rows[row.name];
    changed.name = row.name;
    changed.before.resize(table.columns.size());
    changed.after.resize(table.columns.size());
    for (std::size_t i = 0; i < row.values.size(); ++i) (changed.*side)[i] += row.values[i];
  }
}

/// The greatest growth first, the greatest shrinkage last; without what stayed the same.
std::vector<ChangedRow> changed_rows(const FigureTable& before, const FigureTable& after) {
  RowsByName by_name;
  add_rows(before, &ChangedRow::before, by_name);
  add_rows(after, &ChangedRow::after, by_name);
  std::vector<ChangedRow> rows;
  for (auto& [name, row] : by_name)
    if (row.before != row.after) rows.push_back(std::move(row));
  std::ranges::stable_sort(rows, std::greater<>(), &ChangedRow::change);
  return rows;
}

std::vector<ChangedRow> changed_totals(const ComparedFigures& before, const ComparedFigures& after) {
  std::vector<ChangedRow> rows;
  for (std::size_t i = 0; i < after.totals.size(); ++i)
    rows.push_back({after.totals[i].name, {before.totals[i].value}, {after.totals[i].value}});
  return rows;
}

std::string in_words(Quantity quantity, double value) {
  return quantity == Quantity::kBytes ? observer::short_bytes(value) : observer::estimate_in_words(value);
}

Cell change_cell(Quantity quantity, double change) {
  if (change == 0) return "";
  return (change > 0 ? "+" : "") + in_words(quantity, change);
}

std::string totals_text(const ComparedFigures& before, const ComparedFigures& after, Colour colour) {
  Table table({{"before"}, {"after"}, {"+/-"}, {"", Alignment::kLeft}});
  const std::vector<ChangedRow> rows = changed_totals(before, after);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& [name, was, is] = rows[i];
    const Quantity quantity = after.totals[i].quantity;
    if (was != is || is[0] != 0)
      table.add_row({in_words(quantity, was[0]), in_words(quantity, is[0]),
                     change_cell(quantity, is[0] - was[0]), name});
  }
  return table.render(colour);
}

class TableText {
 public:
  TableText(const FigureTable& before, const FigureTable& after, const ReportShape& shape)
      : table_(after), shape_(shape), rows_(changed_rows(before, after)) {}

  std::string render() const;

 private:
  void add_row(const ChangedRow& row, Table& table) const;

  const FigureTable& table_;
  const ReportShape& shape_;
  const std::vector<ChangedRow> rows_;
};

void TableText::add_row(const ChangedRow& row, Table& table) const {
  constexpr std::size_t kMostOfColumn = 13;
  const std::vector<double> change = row.change();
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < change.size(); ++i)
    cells.push_back(change_cell(table_.columns[i].quantity, change[i]));
  cells[0].style = change[0] > 0 ? Style::kBad : Style::kGood;
  cells.push_back(in_words(table_.columns[0].quantity, row.after[0]));
  cells.push_back(observer::with_end_cut(row.name, shape_.width - kMostOfColumn * cells.size()));
  table.add_row(std::move(cells));
}

std::string TableText::render() const {
  if (rows_.empty()) return "";
  std::vector<Column> columns;
  for (const FigureTable::Column& column : table_.columns) columns.emplace_back(column.name + " +/-");
  columns.emplace_back(table_.columns[0].name + " now");
  columns.emplace_back(table_.name, Alignment::kLeft);
  Table table(std::move(columns));
  const auto is_less = [](const ChangedRow& row) { return row.before > row.after; };
  const auto more = static_cast<std::size_t>(std::ranges::find_if(rows_, is_less) - rows_.begin());
  const std::size_t less = rows_.size() - more;
  const std::size_t more_shown = shape_.rows_shown(more), less_shown = shape_.rows_shown(less);
  for (std::size_t i = 0; i < more_shown; ++i) add_row(rows_[i], table);
  for (std::size_t i = 0; i < less_shown; ++i) add_row(rows_[rows_.size() - 1 - i], table);
  std::string text = "\n" + table.render(shape_.colour);
  if (more > more_shown) text += fmt::format("and {} more that grew; --top 0 lists all\n", more - more_shown);
  if (less > less_shown)
    text += fmt::format("and {} more that shrank; --top 0 lists all\n", less - less_shown);
  return text;
}

std::string key_of(std::string name) {
  std::ranges::replace(name, ' ', '_');
  return name;
}

/// \why what forged figures come to, sums and products, must have room in a whole number
std::int64_t bounded(double value) {
  constexpr double kMost = 1e18;
  return profile::whole(std::min(value, kMost));
}

Json change_json(double before, double after) {
  return {{"before", bounded(before)}, {"after", bounded(after)}};
}

}  // namespace

std::string changes_text(const ComparedFigures& before, const ComparedFigures& after,
                         const ReportShape& shape) {
  std::string text = fmt::format("before: {}\nafter:  {}\n\n", before.of, after.of);
  text += totals_text(before, after, shape.colour);
  for (std::size_t i = 0; i < after.tables.size(); ++i)
    text += TableText(before.tables[i], after.tables[i], shape).render();
  return text;
}

Json changes_json(const ComparedFigures& before, const ComparedFigures& after) {
  Json json = {{"before", before.of}, {"after", after.of}};
  Json &totals = json["totals"] = Json::object(), &tables = json["tables"] = Json::object();
  for (const ChangedRow& row : changed_totals(before, after))
    totals[key_of(row.name)] = change_json(row.before[0], row.after[0]);
  for (std::size_t i = 0; i < after.tables.size(); ++i) {
    const FigureTable& table = after.tables[i];
    Json& rows = tables[key_of(table.name)] = Json::array();
    for (const ChangedRow& row : changed_rows(before.tables[i], table)) {
      Json one = {{"name", row.name}};
      for (std::size_t column = 0; column < table.columns.size(); ++column)
        one[key_of(table.columns[column].name)] = change_json(row.before[column], row.after[column]);
      rows.push_back(std::move(one));
    }
  }
  return observer::document_json(after.kind + " growth", 1, TARN_VERSION_STRING, json);
}

}  // namespace tarn::tool
