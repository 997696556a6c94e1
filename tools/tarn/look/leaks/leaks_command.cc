// `tarn leaks`: live blocks that nothing of a program points to, as text for a terminal and as JSON.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>

#include "commands/commands.h"
#include "look/heap/heap_report.h"
#include "look/leaks/find_leaks.h"
#include "look/processes/target.h"
#include "observer/leaks/leaks.h"
#include "observer/snapshot/snapshot.h"
#include "observer/text/printable.h"
#include "report/results.h"
#include "system/figures/format.h"
#include "system/files/output_files.h"
#include "system/files/usage_error.h"
#include "system/terminal/terminal.h"

namespace tarn::tool {
namespace {

// -- The report ------------------------------------------------------------------------------------------

using observer::LeakGroup;
using observer::LeaksByClass;
using observer::LeakSum;
using observer::Suspect;

constexpr std::size_t kShownExamples = 5;

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

std::string kind_of_group(const LeakGroup& group) {
  const std::string name = block_kind_name(group.class_name, group.block_bytes);
  return group.pool.empty() ? name : name + " in " + group.pool;
}

std::vector<const LeakGroup*> groups_with(const LeaksByClass& leaks, LeakSum LeakGroup::*sum) {
  std::vector<const LeakGroup*> groups;
  for (const LeakGroup& group : leaks.groups)
    if ((group.*sum).blocks != 0) groups.push_back(&group);
  return groups;
}

std::string direct_table(const LeaksByClass& leaks, const ReportShape& shape) {
  const std::vector<const LeakGroup*> groups = groups_with(leaks, &LeakGroup::direct);
  Table table({"leaks", "bytes", "keep", "bytes", {"class, or size", Alignment::kLeft}});
  for (std::size_t i = 0; i < shape.rows_shown(groups.size()); ++i) {
    const LeakGroup& group = *groups[i];
    table.add_row({format_count(group.direct.blocks), format_bytes(group.direct.bytes),
                   format_count(group.kept.blocks), format_bytes(group.kept.bytes),
                   observer::with_end_cut(kind_of_group(group), shape.width - 46)});
  }
  return table.render(shape.colour) + rest_line(groups.size(), shape);
}

std::string indirect_table(const LeaksByClass& leaks, const ReportShape& shape) {
  std::vector<const LeakGroup*> groups = groups_with(leaks, &LeakGroup::indirect);
  if (groups.empty()) return {};
  std::stable_sort(groups.begin(), groups.end(), [](const LeakGroup* a, const LeakGroup* b) {
    return a->indirect.bytes > b->indirect.bytes;
  });
  Table table({"kept", "bytes", {"class, or size", Alignment::kLeft}});
  for (std::size_t i = 0; i < shape.rows_shown(groups.size()); ++i)
    table.add_row({format_count(groups[i]->indirect.blocks), format_bytes(groups[i]->indirect.bytes),
                   observer::with_end_cut(kind_of_group(*groups[i]), shape.width - 26)});
  return "\nKept by these:\n\n" + table.render(shape.colour) + rest_line(groups.size(), shape);
}

/// First bytes of one leak of each of the largest groups: what they are, where there is no class.
std::string examples(const LeaksByClass& leaks, const ReportShape& shape) {
  const std::vector<const LeakGroup*> groups = groups_with(leaks, &LeakGroup::direct);
  std::string text = "\nFor example:\n\n";
  for (std::size_t i = 0; i < std::min(groups.size(), kShownExamples); ++i) {
    const Suspect& leak = groups[i]->example;
    text += fmt::format("{}\n  at {:#x}, {}: {}\n  {}\n",
                        observer::with_end_cut(kind_of_group(*groups[i]), shape.width), leak.block.address,
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
  return observer::document_json("tarn leaks", 1, snapshot.library_version,
                                 {{"program", snapshot.program},
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
                                  {"groups", std::move(groups)}});
}

// -- The command -----------------------------------------------------------------------------------------

constexpr double kLongestWaitBetween = 3600;  // seconds

struct LeaksOptions {
  Target target;
  bool as_json = false, leaves_contents = false, stops_threads = false;
  double wait = 1;
  std::size_t rows = 20;
};

constexpr const char* kLeaksExamples =
    "  tarn leaks game_server                        what it has lost\n"
    "  tarn leaks 4711 --wait 10                     look again after more time\n"
    "  tarn leaks 4711 --stop                        look into registers too\n"
    "  tarn leaks --core core.4711 --json\n"
    "\n"
    "Exit status: 0 without leaks, 1 with some, 2 when the program cannot be looked at.";

int print_leaks(const LeaksOptions& options) {
  const std::unique_ptr<observer::Source> source = open_target(options.target);
  const FoundLeaks found =
      find_leaks(*source, {options.target.core_file, options.wait, options.stops_threads});
  observer::ClassNames names(*source);
  const observer::LeaksByClass report = observer::group_leaks(*source, found.snapshot, found.leaks, names);
  if (options.as_json)
    print_document(text_of(leak_document(found.snapshot, found.looks, report)));
  else
    fmt::print("{}", leak_report(found.snapshot, found.looks, report,
                                 {options.rows, line_width(), colour_for(STDOUT_FILENO)}));
  return report.blocks() == 0 ? 0 : 1;
}

/// \why a program that cannot be looked at must not exit as one with leaks does
int print_leaks_or_refuse(const LeaksOptions& options) {
  if (options.leaves_contents)
    throw UsageError(
        "leaks are found by reading blocks: without them, `tarn heap --no-content` counts by size");
  require_range("--wait", options.wait, 0, kLongestWaitBetween);
  try {
    return print_leaks(options);
  } catch (const observer::ObserveError& error) {
    throw UsageError(error.what());
  }
}

}  // namespace

void add_leaks_command(CLI::App& app, Invocation& invocation) {
  CLI::App& command =
      add_command(app, "leaks", "Find live blocks that nothing of a program points to, from outside.",
                  "tarn leaks PID|NAME [OPTIONS]", kLeaksExamples);
  auto options = std::make_shared<LeaksOptions>();
  add_target(command, options->target);
  add_value(command, "--wait TIME", options->wait,
            "Between the looks that must agree (1s); a core file needs one look")
      .as_seconds();
  add_flag(command, "--stop", options->stops_threads,
           "Stop each thread for some microseconds to read its registers");
  add_flag(command, "--no-content", options->leaves_contents,
           "Refused: leaks cannot be found without reading blocks");
  add_top(command, options->rows, "20");
  add_flag(command, "--json", options->as_json, "Print JSON");
  on_call(command, invocation, options, print_leaks_or_refuse);
}

}  // namespace tarn::tool
