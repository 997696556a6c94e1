#include "look/leaks/leak_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "look/heap/class_column.h"
#include "observer/text/printable.h"
#include "system/figures/format.h"
#include "tarn/version.h"

namespace tarn::tool {
namespace {

using observer::LeakGroup;
using observer::LeaksByClass;
using observer::LeakSum;
using observer::Suspect;

constexpr std::size_t kExamples = 5;

std::string hex_text(const Suspect& leak) {
  std::string text;
  for (std::size_t i = 0; i < leak.head_bytes; ++i)
    text += fmt::format("{}{:02x}", i != 0 && i % 8 == 0 ? " " : "", std::to_integer<unsigned>(leak.head[i]));
  return text;
}

std::string ascii_text(const Suspect& leak) {
  std::string text;
  for (std::size_t i = 0; i < leak.head_bytes; ++i) {
    const auto c = std::to_integer<char>(leak.head[i]);
    text += c >= ' ' && c <= '~' ? c : '.';
  }
  return text;
}

std::string kind_of(const LeakGroup& group) {
  const std::string name = block_kind_name(group.class_name, group.block_bytes);
  return group.pool.empty() ? name : name + " in " + group.pool;
}

std::vector<const LeakGroup*> groups_with(const LeaksByClass& leaks, LeakSum LeakGroup::*sum) {
  std::vector<const LeakGroup*> groups;
  for (const LeakGroup& group : leaks.groups)
    if ((group.*sum).blocks != 0) groups.push_back(&group);
  return groups;
}

std::size_t rows_shown(std::size_t rows, const ReportShape& shape) {
  return shape.rows == 0 ? rows : std::min(rows, shape.rows);
}

std::string rest_line(std::size_t rows, const ReportShape& shape) {
  const std::size_t hidden = rows - rows_shown(rows, shape);
  return hidden == 0 ? ""
                     : fmt::format("{} more classes and sizes; --top 0 lists all\n", format_count(hidden));
}

std::string direct_table(const LeaksByClass& leaks, const ReportShape& shape) {
  const std::vector<const LeakGroup*> groups = groups_with(leaks, &LeakGroup::direct);
  Table table({{"leaks"}, {"bytes"}, {"keep"}, {"bytes"}, {"class, or size", Alignment::kLeft}});
  for (std::size_t i = 0; i < rows_shown(groups.size(), shape); ++i) {
    const LeakGroup& group = *groups[i];
    table.add_row({{format_count(group.direct.blocks)},
                   {format_bytes(group.direct.bytes)},
                   {format_count(group.kept.blocks)},
                   {format_bytes(group.kept.bytes)},
                   {observer::with_end_cut(kind_of(group), shape.width - 46)}});
  }
  return table.render(shape.colour) + rest_line(groups.size(), shape);
}

std::string indirect_table(const LeaksByClass& leaks, const ReportShape& shape) {
  std::vector<const LeakGroup*> groups = groups_with(leaks, &LeakGroup::indirect);
  if (groups.empty()) return {};
  std::stable_sort(groups.begin(), groups.end(), [](const LeakGroup* a, const LeakGroup* b) {
    return a->indirect.bytes > b->indirect.bytes;
  });
  Table table({{"kept"}, {"bytes"}, {"class, or size", Alignment::kLeft}});
  for (std::size_t i = 0; i < rows_shown(groups.size(), shape); ++i)
    table.add_row({{format_count(groups[i]->indirect.blocks)},
                   {format_bytes(groups[i]->indirect.bytes)},
                   {observer::with_end_cut(kind_of(*groups[i]), shape.width - 26)}});
  return "\nKept by these:\n\n" + table.render(shape.colour) + rest_line(groups.size(), shape);
}

/// First bytes of one leak of each of the largest groups: what they are, where there is no class.
std::string examples(const LeaksByClass& leaks, const ReportShape& shape) {
  const std::vector<const LeakGroup*> groups = groups_with(leaks, &LeakGroup::direct);
  std::string text = "\nFor example:\n\n";
  for (std::size_t i = 0; i < std::min(groups.size(), kExamples); ++i) {
    const Suspect& leak = groups[i]->example;
    text += fmt::format("{}\n  at {:#x}, {}: {}\n  {}\n",
                        observer::with_end_cut(kind_of(*groups[i]), shape.width), leak.block.address,
                        format_bytes(leak.block.bytes), ascii_text(leak), hex_text(leak));
  }
  return text;
}

std::string notes(const observer::Snapshot& snapshot, const LeakLooks& looks, const LeaksByClass& leaks) {
  std::string text;
  if (looks.last.unread_bytes != 0)
    text += fmt::format(
        "{} of its memory could not be read: nothing of this is certain, as pointers may lie there.\n",
        format_bytes(looks.last.unread_bytes));
  if (looks.last.sensitive_bytes != 0)
    text += fmt::format(
        "{} in pools with sensitive contents were not read: what only they point to counts as a leak.\n",
        format_bytes(looks.last.sensitive_bytes));
  if (snapshot.exactness.bad_spans != 0)
    text += fmt::format("{} runs of pages could not be understood and were taken for memory in use.\n",
                        format_count(snapshot.exactness.bad_spans));
  if (!looks.has_registers && leaks.blocks() != 0)
    text += "What only a register of a thread points to counts as a leak: --stop looks there too.\n";
  return text;
}

Json to_json(const LeakSum& sum) { return {{"blocks", sum.blocks}, {"bytes", sum.bytes}}; }

Json to_json(const LeakGroup& group) {
  return {{"class", group.class_name},
          {"block_bytes", group.block_bytes},
          {"pool", group.pool},
          {"direct", to_json(group.direct)},
          {"indirect", to_json(group.indirect)},
          {"kept", to_json(group.kept)},
          {"example",
           {{"address", fmt::format("{:#x}", group.example.block.address)},
            {"bytes", group.example.block.bytes},
            {"first_bytes", hex_text(group.example)}}}};
}

}  // namespace

std::string leak_report(const observer::Snapshot& snapshot, const LeakLooks& looks, const LeaksByClass& leaks,
                        const ReportShape& shape) {
  std::string text = snapshot.program;
  if (snapshot.pid != 0) text += fmt::format(" {}", snapshot.pid);
  text += fmt::format(": {} live blocks, {}", format_count(looks.last.live_blocks),
                      format_bytes(looks.last.live_bytes));
  if (looks.count > 1)
    text += fmt::format("; looked at {} times, {:g} s apart", looks.count, looks.seconds_between);
  text += "\n";
  if (leaks.blocks() == 0) {
    text += "No leaks: all of them can be reached.\n";
  } else {
    text += fmt::format("{} leaks, {}: nothing points to {} of them, which keep the other {}\n\n",
                        format_count(leaks.blocks()), format_bytes(leaks.bytes()),
                        format_count(leaks.direct.blocks), format_count(leaks.indirect.blocks));
    text += direct_table(leaks, shape) + indirect_table(leaks, shape) + examples(leaks, shape);
  }
  const std::string more = notes(snapshot, looks, leaks);
  return more.empty() ? text : text + "\n" + more;
}

Json leak_document(const observer::Snapshot& snapshot, const LeakLooks& looks, const LeaksByClass& leaks) {
  Json groups = Json::array();
  for (const LeakGroup& group : leaks.groups) groups.push_back(to_json(group));
  return {{"format", "tarn leaks"},
          {"version", 1},
          {"tarn", TARN_VERSION_STRING},
          {"program", snapshot.program},
          {"pid", snapshot.pid},
          {"time", snapshot.time},
          {"looks", looks.count},
          {"seconds_between", looks.seconds_between},
          {"registers_read", looks.has_registers},
          {"live_blocks", looks.last.live_blocks},
          {"live_bytes", looks.last.live_bytes},
          {"unread_bytes", looks.last.unread_bytes},
          {"sensitive_bytes", looks.last.sensitive_bytes},
          {"direct", to_json(leaks.direct)},
          {"indirect", to_json(leaks.indirect)},
          {"groups", std::move(groups)}};
}

}  // namespace tarn::tool
