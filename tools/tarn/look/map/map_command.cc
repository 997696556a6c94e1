// `tarn map`: a cell for each page of a running program, and who pins what.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "commands/commands.h"
#include "commands/result_output.h"
#include "look/map/map_document.h"
#include "look/map/map_terminal.h"
#include "look/processes/target.h"
#include "system/files/files.h"
#include "system/files/output_files.h"
#include "system/terminal/terminal.h"

namespace tarn::tool {
namespace {

constexpr std::size_t kLeastWidth = 40, kMostWidth = 1000;

struct MapOptions {
  Target target;
  ResultOutput output;
  std::size_t width = 0;  // 0: the terminal's
  std::size_t rows = 5;
};

void print_map(const observer::PageMap& map, const observer::Snapshot& snapshot,
               const observer::Residency* residency, const MapOptions& options) {
  MapLook look;
  look.width = options.width != 0 ? options.width : columns_of(STDOUT_FILENO, kWidthOfScreen);
  look.depth = colour_depth_for(STDOUT_FILENO);
  fmt::print("{}\n{}", map_text(map, snapshot, look),
             pinners_text(snapshot, residency, options.rows, colour_for(STDOUT_FILENO)));
}

int show_map(const MapOptions& options) {
  if (options.width != 0)
    require_range("--width", static_cast<double>(options.width), kLeastWidth, kMostWidth);
  options.output.check({".html", ".json"}, [](const std::string& file) { open_output(file); });
  const auto source = open_target(options.target);
  const observer::Snapshot snapshot = observer::read_snapshot(*source);
  const auto known = observer::read_residency(*source);
  const observer::Residency* residency = known ? &*known : nullptr;
  const observer::PageMap map = page_map_of(snapshot, residency);
  for (const std::string& file : options.output.ending_in(".html")) {
    write_file(file, map_page(map, snapshot, residency));
    fmt::print(stderr, "wrote {}: open it with a browser, it needs no network\n", file);
  }
  for (const std::string& file : options.output.ending_in(".json"))
    write_file(file, text_of(map_json(map, snapshot, residency)));
  if (options.output.as_json)
    print_document(text_of(map_json(map, snapshot, residency)));
  else if (options.output.files.empty())
    print_map(map, snapshot, residency, options);
  return 0;
}

}  // namespace

void add_map_command(CLI::App& app, Invocation& invocation) {
  CLI::App& command =
      add_command(app, "map", "Draw each page of a running program's memory, and who pins what.",
                  "tarn map PID|NAME [-o FILE] [--json] [--width N] [--top N], or --core FILE",
                  "  tarn map game_server\n"
                  "  tarn map 4711 -o map.html            a page to hover over, without network\n"
                  "  tarn map --core core.4711 --json\n");
  auto options = std::make_shared<MapOptions>();
  add_target(command, options->target);
  add_result_output(
      command, options->output,
      "one page that needs no network (.html), or every span with its figures (.json), instead");
  add_value(command, "--width N", options->width, "Characters in a line (the terminal's; 80 in a pipe)");
  add_top(command, options->rows, "5 each of classes, pools and owners");
  on_call(command, invocation, options, show_map);
}

}  // namespace tarn::tool
