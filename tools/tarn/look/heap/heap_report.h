// A census as text for a terminal.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "look/heap/heap_document.h"
#include "observer/objects/census.h"
#include "observer/snapshot/snapshot.h"
#include "report/table.h"

namespace tarn::tool {

struct ReportShape {
  std::size_t rows = 0;  // the most that a table has; 0: all
  std::size_t width = 80;
  Colour colour = Colour::kOff;

  std::size_t rows_shown(std::size_t of) const { return rows == 0 ? of : std::min(of, rows); }
};

/// Tells of the rows that a table leaves out; empty where it has all.
std::string rest_line(std::size_t rows, const ReportShape& shape);

std::string heap_report(const observer::Snapshot& snapshot, const observer::Census& census,
                        observer::Contents contents, const ReportShape& shape);

/// \p seconds: between the two censuses
/// \param title what the censuses are of
std::string growth_report(const std::string& title, const std::vector<observer::Growth>& growth,
                          double seconds, const ReportShape& shape);

/// "game_server 4711"
std::string title_of(const observer::Snapshot& snapshot);

// -- The last column: names of classes, as long as the reader's terminal is wide --------------------------

/// Characters of a line on standard output; SIZE_MAX where it is no terminal: names stay whole for grep.
std::size_t line_width();

/// What a group of blocks is called: its class, else the size of its blocks.
std::string block_kind_name(const std::string& class_name, std::uint64_t block_bytes);

}  // namespace tarn::tool
