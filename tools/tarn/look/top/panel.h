// A table of a screen: as many of its columns as a width has room for, as many of its rows as a height has.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "report/table.h"

namespace tarn::tool {

inline constexpr std::size_t kAllRows = SIZE_MAX;

struct PanelColumn {
  PanelColumn(const char* words, Alignment side = Alignment::kRight, int highest = 0)
      : title(words), alignment(side), rank(highest) {}

  std::string title;
  Alignment alignment;
  int rank;  // where there is no room for all, the highest go first; 0: never
};

class Panel {
 public:
  explicit Panel(std::vector<PanelColumn> columns) : columns_(std::move(columns)) {}
  /// \pre one cell per column.
  void add_row(std::vector<Cell> cells) { rows_.push_back(std::move(cells)); }
  std::size_t row_count() const { return rows_.size(); }

  /// The heading, and rows from `first` on. Where rows are left out behind them, the last line says how many.
  std::vector<Line> lines(std::size_t width, std::size_t height, std::size_t first = 0) const;

 private:
  std::vector<Line> lines_up_to_rank(int rank) const;

  std::vector<PanelColumn> columns_;
  std::vector<std::vector<Cell>> rows_;
};

/// Gives each of some panels the lines it wants, if there are enough for all. If not, each gets what it wants
/// up to an equal share. \param wanted lines; \returns lines.
std::vector<std::size_t> shared_lines(const std::vector<std::size_t>& wanted, std::size_t available);

}  // namespace tarn::tool
