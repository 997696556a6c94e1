#include "look/top/panel.h"

#include <fmt/format.h>

#include <algorithm>

#include "look/processes/screen_text.h"

namespace tarn::tool {

std::vector<Line> Panel::lines_up_to_rank(int rank) const {
  std::vector<Column> shown;
  for (const PanelColumn& column : columns_)
    if (column.rank <= rank) shown.push_back({column.title, column.alignment});
  Table table(shown);
  for (const auto& row : rows_) {
    std::vector<Cell> cells;
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (columns_[i].rank <= rank) cells.push_back(row[i]);
    table.add_row(std::move(cells));
  }
  return table.lines();
}

std::vector<Line> Panel::lines(std::size_t width, std::size_t height, std::size_t first) const {
  int rank = 0;
  for (const PanelColumn& column : columns_) rank = std::max(rank, column.rank);
  std::vector<Line> all = lines_up_to_rank(rank);
  while (rank > 0 && width_of(all.front()) > width) all = lines_up_to_rank(--rank);
  first = std::min(first, rows_.empty() ? 0 : rows_.size() - 1);
  all.erase(all.begin() + 1, all.begin() + 1 + static_cast<std::ptrdiff_t>(first));
  if (all.size() > height) {
    const std::size_t hidden = all.size() - height + 1;
    all.resize(height);
    if (height > 2) all.back() = {{fmt::format("… {} more", hidden), Style::kFaint}};
  }
  for (Line& line : all) line = cut(line, width);
  return all;
}

std::vector<std::size_t> shared_lines(const std::vector<std::size_t>& wanted, std::size_t available) {
  std::vector<std::size_t> given(wanted.size(), 0);
  for (bool is_enough = false; available != 0 && !is_enough;) {
    is_enough = true;
    for (std::size_t i = 0; i < wanted.size() && available != 0; ++i) {
      if (given[i] == wanted[i]) continue;
      ++given[i];
      --available;
      is_enough = false;
    }
  }
  return given;
}

}  // namespace tarn::tool
