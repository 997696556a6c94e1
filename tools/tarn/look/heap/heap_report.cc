#include "look/heap/heap_report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "observer/objects/class_names.h"
#include "observer/text/printable.h"
#include "observer/text/words.h"
#include "system/figures/format.h"
#include "system/terminal/terminal.h"

namespace tarn::tool {
namespace {

using observer::Census;
using observer::CensusGroup;
using observer::Growth;
using observer::Snapshot;

std::string signed_text(std::int64_t value, const std::string& magnitude) {
  return (value > 0 ? "+" : value < 0 ? "-" : "") + magnitude;
}

/// The first columns take so much at most; the last is as wide as the rest of the line.
std::string kind_cell(const CensusGroup& group, std::size_t taken, const ReportShape& shape) {
  return observer::with_end_cut(block_kind_name(group.class_name, group.block_bytes), shape.width - taken);
}

std::string pool_cell(const CensusGroup& group) {
  constexpr std::size_t kWidth = 20;
  return observer::with_end_cut(group.pool, kWidth);
}

bool has_pools(const std::vector<CensusGroup>& groups) {
  return std::any_of(groups.begin(), groups.end(), [](const CensusGroup& g) { return !g.pool.empty(); });
}

Table census_table(const Census& census, const ReportShape& shape) {
  const bool with_pools = has_pools(census.groups);
  std::vector<Column> columns = {"bytes", "share", "blocks"};
  if (with_pools) columns.push_back({"pool", Alignment::kLeft});
  columns.push_back({"class, or size", Alignment::kLeft});
  Table table(columns);
  for (std::size_t i = 0; i < shape.rows_shown(census.groups.size()); ++i) {
    const CensusGroup& group = census.groups[i];
    std::vector<Cell> row = {format_bytes(group.bytes), observer::share_in_words(group.bytes, census.bytes),
                             format_count(group.blocks)};
    if (with_pools) row.push_back({pool_cell(group)});
    row.push_back(
        {kind_cell(group, with_pools ? 57 : 35, shape), group.is_class() ? Style::kPlain : Style::kFaint});
    table.add_row(std::move(row));
  }
  return table;
}

std::string rest_line(const Census& census, const ReportShape& shape) {
  const std::size_t shown = shape.rows_shown(census.groups.size());
  if (shown == census.groups.size()) return {};
  std::uint64_t blocks = 0, bytes = 0;
  for (std::size_t i = shown; i < census.groups.size(); ++i) {
    blocks += census.groups[i].blocks;
    bytes += census.groups[i].bytes;
  }
  return fmt::format("{} more classes and sizes: {} in {} blocks; --top 0 lists all\n",
                     format_count(census.groups.size() - shown), format_bytes(bytes), format_count(blocks));
}

std::string notes(const Snapshot& snapshot, const Census& census) {
  std::string text;
  if (!snapshot.exactness.is_exact)
    text += fmt::format("The program ran meanwhile: up to {} blocks may be counted in the wrong place.\n",
                        format_count(snapshot.exactness.moved_blocks));
  if (census.sensitive_blocks != 0)
    text += fmt::format("{} blocks of pools with sensitive contents were not read.\n",
                        format_count(census.sensitive_blocks));
  if (census.unread_bytes != 0)
    text += fmt::format("{} blocks could not be read: their memory is not there.\n",
                        format_count(census.unread_bytes / sizeof(observer::Address)));
  return text;
}

std::size_t class_count(const Census& census) {
  return static_cast<std::size_t>(std::count_if(census.groups.begin(), census.groups.end(),
                                                [](const CensusGroup& group) { return group.is_class(); }));
}

constexpr std::size_t kNarrowest = 80;
constexpr std::uint64_t kLargestSmall = std::uint64_t{32} << 10;

}  // namespace

std::string heap_report(const Snapshot& snapshot, const Census& census, observer::Contents contents,
                        const ReportShape& shape) {
  std::string text = fmt::format("{}: {} in {} live blocks", title_of(snapshot), format_bytes(census.bytes),
                                 format_count(census.blocks));
  if (contents == observer::Contents::kLeave)
    text += ", by size: no block was read\n\n";
  else
    text += fmt::format("; {} of the bytes are objects of {} C++ classes\n\n",
                        observer::share_in_words(census.class_bytes, census.bytes),
                        format_count(class_count(census)));
  text += census_table(census, shape).render(shape.colour);
  text += rest_line(census, shape);
  const std::string more = notes(snapshot, census);
  return more.empty() ? text : text + "\n" + more;
}

std::string title_of(const Snapshot& snapshot) {
  return snapshot.pid == 0 ? snapshot.program : fmt::format("{} {}", snapshot.program, snapshot.pid);
}

std::string growth_report(const std::string& title, const std::vector<Growth>& growth, double seconds,
                          const ReportShape& shape) {
  std::int64_t blocks = 0, bytes = 0;
  for (const Growth& change : growth) {
    blocks += change.blocks;
    bytes += change.bytes;
  }
  Table table(
      {{"bytes +/-"}, {"blocks +/-"}, {"bytes now"}, {"blocks now"}, {"class, or size", Alignment::kLeft}});
  for (std::size_t i = 0; i < shape.rows_shown(growth.size()); ++i) {
    const Growth& change = growth[i];
    const std::string in_pool = change.group.pool.empty() ? "" : " in " + pool_cell(change.group);
    table.add_row(
        {{signed_text(change.bytes, format_bytes(std::abs(change.bytes))),
          change.bytes > 0 ? Style::kBad : Style::kGood},
         {signed_text(change.blocks, format_count(static_cast<std::uint64_t>(std::abs(change.blocks))))},
         {format_bytes(change.group.bytes)},
         {format_count(change.group.blocks)},
         {kind_cell(change.group, 52 + width_of(in_pool), shape) + in_pool}});
  }
  return fmt::format("{}: {} in {} blocks, within {}\n\n", title,
                     signed_text(bytes, format_bytes(std::abs(bytes))),
                     signed_text(blocks, format_count(static_cast<std::uint64_t>(std::abs(blocks)))),
                     format_seconds_left(seconds)) +
         (growth.empty() ? "Nothing changed.\n" : table.render(shape.colour)) +
         rest_line(growth.size(), shape);
}

std::string rest_line(std::size_t rows, const ReportShape& shape) {
  const std::size_t hidden = rows - shape.rows_shown(rows);
  return hidden == 0 ? ""
                     : fmt::format("{} more classes and sizes; --top 0 lists all\n", format_count(hidden));
}

std::size_t line_width() {
  return is_terminal(STDOUT_FILENO) ? std::max(columns_of(STDOUT_FILENO, kNarrowest), kNarrowest) : SIZE_MAX;
}

std::string block_kind_name(const std::string& class_name, std::uint64_t block_bytes) {
  if (!class_name.empty()) return observer::short_class_name(class_name);
  if (block_bytes <= kLargestSmall) return fmt::format("blocks of {} B", format_count(block_bytes));
  return fmt::format("blocks up to {}", format_bytes(static_cast<double>(block_bytes)));
}

}  // namespace tarn::tool
