// What tables of size classes cost a program whose live sizes are known: the tables and JSON of
// `tarn classes --histogram` and `--fit`, and the files behind both options.
#pragma once
#include <string>
#include <vector>

#include "central/classes/block_sizes.h"
#include "report/results.h"
#include "report/table.h"
#include "tune/class_table.h"

namespace tarn::tool {

struct TableOfCost {
  std::string name;
  tune::TableCost cost;
};

/// \throws UsageError naming the file, and the line where there is one
internal::BlockSizes read_class_file(const std::string& path);
tune::SizeHistogram read_histogram_file(const std::string& path);

/// A row for each table.
Table cost_table(const std::vector<TableOfCost>& tables);
Json cost_json(const TableOfCost& table);

/// One sentence on what became of the first table's waste with the second.
std::string describe_gain(const tune::TableCost& before, const tune::TableCost& after);

}  // namespace tarn::tool
