// `tarn ps`: the processes that run on tarn, each with its memory in the parts of `tarn top`, and their sum.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "commands/commands.h"
#include "look/processes/memory_of_look.h"
#include "look/processes/processes.h"
#include "look/processes/screen_text.h"
#include "look/several/looks.h"
#include "report/results.h"
#include "system/terminal/terminal.h"
#include "tarn/version.h"

namespace tarn::tool {
namespace {

constexpr int kSchemaVersion = 1;
constexpr double kHour = 3600;

struct PsOptions {
  std::string name;
  std::size_t rows = 0;
  bool as_json = false;
};

struct Processes {
  std::vector<Json> looked_at;
  std::size_t refused = 0;
  std::size_t failed = 0;
};

Processes look_at_all(const std::string& name) {
  const std::vector<ProcessName> named = processes_named(name);
  GroupOfProcess numbers;
  for (const ProcessName& process : named) numbers.emplace(process.pid, "");
  const Looks looks = look_at_each(numbers, memory_line, kHour);
  Processes processes{{}, looks.refused, looks.failed.size()};
  for (const Looks::Process& look : looks.on_tarn) {
    Json& memory = processes.looked_at.emplace_back(Json::parse(look.text));
    memory["program"] = std::ranges::find(named, look.pid, &ProcessName::pid)->name;
  }
  return processes;
}

Json sum_of(const std::vector<Json>& processes) {
  Json sum = {{"processes", processes.size()}, {"rss_bytes", 0u}, {"parts", Json::object()}};
  for (const observer::PartName& part : observer::kParts) {
    std::uint64_t bytes = 0;
    for (const Json& process : processes) bytes += bytes_of(process, part.key);
    sum["parts"][part.key] = bytes;
  }
  std::uint64_t rss = 0;
  for (const Json& process : processes) rss += bytes_of(process, "rss");
  sum["rss_bytes"] = rss;
  return sum;
}

void add_row(Table& table, std::vector<Cell> names, const Json& memory) {
  for (Cell& cell : memory_cells(memory)) names.push_back(std::move(cell));
  table.add_row(std::move(names));
}

std::string table_of(const Processes& processes, std::size_t most_rows, Colour colour) {
  std::vector<Column> columns = {"PID", {"program", Alignment::kLeft}, "up"};
  columns.insert(columns.end(), std::begin(kMemoryTitles), std::end(kMemoryTitles));
  Table table(columns);
  const auto rss = [](const Json& process) { return bytes_of(process, "rss"); };
  for (const Json& process : greatest(processes.looked_at, most_rows, rss)) {
    const Json& up = process.at("up_seconds");
    add_row(table,
            {std::to_string(process.at("pid").get<int>()),
             observer::first_columns(in_single_columns(process.at("program").get<std::string>()), 24),
             up.is_null() ? "-" : up_time(up.get<double>())},
            process);
  }
  if (processes.looked_at.size() > 1)
    add_row(table, {"", fmt::format("all {}", processes.looked_at.size()), ""}, sum_of(processes.looked_at));
  return table.render(colour);
}

std::string notes_of(const Processes& processes, const PsOptions& options) {
  std::string text;
  if (processes.looked_at.empty())
    text += options.name.empty()
                ? "No process that may be looked at runs on tarn.\n"
                : fmt::format("No process named '{}' that may be looked at runs on tarn.\n", options.name);
  if (processes.refused != 0)
    text += fmt::format("{} process{} could not be looked at: root may look at all.\n", processes.refused,
                        processes.refused == 1 ? "" : "es");
  if (processes.failed != 0)
    text += fmt::format("{} on tarn gave no answer: `tarn top PID` says why.\n", processes.failed);
  return text;
}

int ps(const PsOptions& options) {
  const Processes processes = look_at_all(options.name);
  if (options.as_json)
    fmt::print("{}", text_of(observer::document_json("tarn ps", kSchemaVersion, TARN_VERSION_STRING,
                                                     {{"processes", processes.looked_at},
                                                      {"sum", sum_of(processes.looked_at)},
                                                      {"not_looked_at", processes.refused},
                                                      {"failed", processes.failed}})));
  else if (!processes.looked_at.empty())
    fmt::print("{}", table_of(processes, options.rows, colour_for(STDOUT_FILENO)));
  if (!options.as_json) {
    std::fflush(stdout);
    fmt::print(stderr, "{}", notes_of(processes, options));
  }
  return processes.failed != 0 || (!options.name.empty() && processes.looked_at.empty()) ? 1 : 0;
}

}  // namespace

void add_ps_command(CLI::App& app, Invocation& invocation) {
  CLI::App& command =
      add_command(app, "ps", "List the processes that run on tarn, and where their memory is.",
                  "tarn ps [NAME] [--top N] [--json]",
                  "  tarn ps\n"
                  "  tarn ps nginx        all workers of one name, and their sum\n"
                  "  tarn ps --top 5      those with most memory\n"
                  "  tarn ps --json\n"
                  "\n"
                  "Exit status: 1 no process of that name runs on tarn, or one gave no answer.\n");
  auto options = std::make_shared<PsOptions>();
  add_word(command, "NAME", options->name, "Only processes of this name").without_type();
  add_top(command, options->rows, "0");
  add_flag(command, "--json", options->as_json, "Print JSON");
  on_call(command, invocation, options, ps);
}

}  // namespace tarn::tool
