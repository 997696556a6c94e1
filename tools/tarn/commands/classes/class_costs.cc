#include "commands/classes/class_costs.h"

#include <fmt/format.h>

#include "system/figures/format.h"
#include "system/files/files.h"
#include "system/files/usage_error.h"

namespace tarn::tool {
namespace {

std::string read_text(const std::string& path) {
  const std::optional<std::string> text = read_file(path);
  if (!text) throw UsageError(fmt::format("'{}' cannot be read", path));
  return *text;
}

std::string percent_of(double part, double whole) {
  return fmt::format("{:.1f}", whole == 0 ? 0 : 100 * part / whole);
}

}  // namespace

internal::BlockSizes read_class_file(const std::string& path) {
  internal::BlockSizes sizes;
  internal::BlockSizesFault fault;
  if (internal::read_block_sizes(read_text(path), sizes, fault)) return sizes;
  throw UsageError(
      fmt::format("{}:{}: {}", path, fault.line, std::string_view(fault.what.data(), fault.what.length())));
}

tune::SizeHistogram read_histogram_file(const std::string& path) {
  try {
    return tune::read_histogram(read_text(path));
  } catch (const tune::BadInput& bad) {
    throw UsageError(fmt::format("{}: {}", path, bad.what()));
  }
}

Table cost_table(const std::vector<TableOfCost>& tables) {
  Table table(
      {{"table", Alignment::kLeft}, "requested", "floor", "in slabs", "classes used", "waste", "waste %"});
  for (const auto& [name, cost] : tables)
    table.add_row({name, format_bytes(static_cast<double>(cost.requested)),
                   format_bytes(static_cast<double>(cost.floor)), format_bytes(cost.blocks),
                   std::to_string(cost.classes), format_bytes(cost.waste()),
                   fmt::format("{:.1f}", cost.waste_percent())});
  return table;
}

Json cost_json(const TableOfCost& table) {
  return {{"table", table.name},
          {"requested_bytes", table.cost.requested},
          {"floor_bytes", table.cost.floor},
          {"block_bytes", table.cost.blocks},
          {"classes_used", table.cost.classes},
          {"price_bytes", table.cost.price},
          {"heap_bytes", table.cost.heap()},
          {"waste_bytes", table.cost.waste()},
          {"waste_percent", table.cost.waste_percent()}};
}

std::string describe_gain(const tune::TableCost& before, const tune::TableCost& after) {
  const double saved = before.heap() - after.heap();
  return fmt::format("saves {}: {} % of the waste above the floor, {} % of the heap", format_bytes(saved),
                     percent_of(saved, before.waste()), percent_of(saved, before.heap()));
}

}  // namespace tarn::tool
