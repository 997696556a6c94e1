// What became more between two sets of named figures: traces, or snapshots of a process.
#pragma once
#include <string>
#include <vector>

#include "look/heap/heap_report.h"
#include "system/figures/measurement.h"

namespace tarn::tool {

struct NamedFigure {
  std::string name;
  Quantity quantity = Quantity::kBytes;
  double value = 0;
};

/// Figures by name. Rows of one name count as one. At most four columns: a line of 80 has room for them.
struct FigureTable {
  struct Column {
    std::string name;
    Quantity quantity = Quantity::kBytes;
  };
  struct Row {
    std::string name;
    std::vector<double> values;  // one for each column
  };
  std::string name;             // what a row is: "size"
  std::vector<Column> columns;  // rows are told by what the first one grew, then the next
  std::vector<Row> rows;
};

/// Two sets are comparable if their kinds, and the names of their tables, are the same.
struct ComparedFigures {
  std::string kind;  // "tarn top"
  std::string of;    // the file and what it tells of
  std::vector<NamedFigure> totals;
  std::vector<FigureTable> tables;
};

/// All totals that are not 0 in both, and of each table the rows that changed.
std::string changes_text(const ComparedFigures& before, const ComparedFigures& after,
                         const ReportShape& shape);

/// {"schema": "tarn top growth", "version": 1, ...}: the same, all rows.
Json changes_json(const ComparedFigures& before, const ComparedFigures& after);

}  // namespace tarn::tool
