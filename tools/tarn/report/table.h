// A table of text for a terminal: aligned columns, an optional line of headings above groups of columns, and
// styles.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "system/terminal/terminal.h"

namespace tarn::tool {

enum class Alignment : std::uint8_t { kLeft, kRight };

/// A title alone is a column too.
struct Column {
  Column(const char* words, Alignment side = Alignment::kRight) : title(words), alignment(side) {}
  Column(std::string words, Alignment side = Alignment::kRight) : title(std::move(words)), alignment(side) {}

  std::string title;
  Alignment alignment;
};

/// A heading over the next `column_count` columns.
struct ColumnGroup {
  std::string title;
  std::size_t column_count;
};

/// A text alone is a cell too.
struct Cell {
  Cell(const char* words = "", Style look = Style::kPlain) : text(words), style(look) {}
  Cell(std::string words, Style look = Style::kPlain) : text(std::move(words)), style(look) {}

  std::string text;
  Style style;
};

/// Pieces of text beside each other.
using Line = std::vector<Cell>;

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// \pre the groups' column counts add up to the number of columns
  void set_groups(std::vector<ColumnGroup> groups) { groups_ = std::move(groups); }
  /// \pre one cell per column
  void add_row(std::vector<Cell> cells) { rows_.push_back(std::move(cells)); }
  bool is_empty() const { return rows_.empty(); }
  std::string render(Colour colour) const;
  /// The heading, then the rows; without the groups. Each column is one cell, with its gap behind it.
  std::vector<Line> lines() const;

 private:
  std::vector<std::size_t> column_widths() const;
  std::string render_groups(const std::vector<std::size_t>& widths, Colour colour) const;

  std::vector<Column> columns_;
  std::vector<ColumnGroup> groups_;
  std::vector<std::vector<Cell>> rows_;
};

std::size_t width_of(const Line& line);

/// For a table of the rows with the greatest keys, these first; as they are, where it has room for all.
/// \param most 0: all
template <typename Row, typename Key>
std::vector<Row> greatest(std::vector<Row> rows, std::size_t most, Key key) {
  if (most == 0 || rows.size() <= most) return rows;
  std::ranges::stable_sort(rows, std::greater<>(), key);
  rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(most), rows.end());
  return rows;
}

}  // namespace tarn::tool
