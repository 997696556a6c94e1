// Alignment of tables.
#include "report/table.h"

#include <algorithm>

namespace tarn::tool {
namespace {

constexpr std::size_t kGap = 2;       // blanks between columns
constexpr std::size_t kGroupGap = 2;  // and as many more between groups

std::string padded(const std::string& text, std::size_t width, Alignment alignment) {
  const std::string blanks(width - std::min(width, width_of(text)), ' ');
  return alignment == Alignment::kLeft ? text + blanks : blanks + text;
}

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

/// Whether a column is the first of a group, apart from the very first.
bool starts_group(const std::vector<ColumnGroup>& groups, std::size_t column) {
  std::size_t first = 0;
  for (const ColumnGroup& group : groups) {
    if (first == column && column != 0) return true;
    first += group.column_count;
  }
  return false;
}

}  // namespace

std::size_t width_of(const Line& line) {
  std::size_t width = 0;
  for (const Cell& cell : line) width += width_of(cell.text);
  return width;
}

std::vector<std::size_t> Table::column_widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = width_of(columns_[i].title);
    for (const auto& row : rows_) width = std::max(width, width_of(row[i].text));
    widths.push_back(width);
  }
  return widths;
}

std::string Table::render_groups(const std::vector<std::size_t>& widths, Colour colour) const {
  std::string line;
  std::size_t column = 0;
  for (const ColumnGroup& group : groups_) {
    std::size_t width = 0;
    for (std::size_t i = 0; i < group.column_count; ++i) width += widths[column + i] + (i == 0 ? 0 : kGap);
    if (column != 0) line += std::string(kGap + kGroupGap, ' ');
    line += padded(group.title, width, Alignment::kLeft);
    column += group.column_count;
  }
  return styled(without_trailing_blanks(line), Style::kHeading, colour) + "\n";
}

std::vector<Line> Table::lines() const {
  const std::vector<std::size_t> widths = column_widths();
  std::vector<Line> lines(1);
  const auto append = [&](std::size_t column, const Cell& cell) {
    const std::string gap(column + 1 < columns_.size() ? kGap : 0, ' ');
    lines.back().push_back({padded(cell.text, widths[column], columns_[column].alignment) + gap, cell.style});
  };
  for (std::size_t i = 0; i < columns_.size(); ++i) append(i, {columns_[i].title, Style::kHeading});
  for (const auto& row : rows_) {
    lines.emplace_back();
    for (std::size_t i = 0; i < columns_.size(); ++i) append(i, row[i]);
  }
  return lines;
}

std::string Table::render(Colour colour) const {
  const std::vector<std::size_t> widths = column_widths();
  const auto render_line = [&](auto cell_of) {
    std::string line;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (i != 0) line += std::string(kGap + (starts_group(groups_, i) ? kGroupGap : 0), ' ');
      const Cell cell = cell_of(i);
      line += styled(padded(cell.text, widths[i], columns_[i].alignment), cell.style, colour);
    }
    return (colour == Colour::kOff ? without_trailing_blanks(line) : line) + "\n";
  };
  std::string text = groups_.empty() ? "" : render_groups(widths, colour);
  text += render_line([&](std::size_t i) { return Cell{columns_[i].title, Style::kHeading}; });
  for (const auto& row : rows_) text += render_line([&](std::size_t i) { return row[i]; });
  return text;
}

}  // namespace tarn::tool
