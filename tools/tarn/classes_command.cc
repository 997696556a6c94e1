// `tarn classes`: the size classes of a preset and what they waste.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "central/size_class.h"
#include "commands.h"
#include "format.h"
#include "results.h"
#include "size_class_list.h"
#include "table.h"
#include "terminal.h"
#include "usage_error.h"

namespace tarn::tool {
namespace {

struct ClassesOptions {
  std::string preset = internal::kSizeClassPresets[0].name;
  bool as_json = false;
};

Table table_of(const std::vector<ListedClass>& classes) {
  Table table({{"requests"},
               {"block"},
               {"stride"},
               {"slab"},
               {"blocks"},
               {"tail"},
               {"tail %"},
               {"worst %"},
               {"mean %"}});
  for (const ListedClass& c : classes)
    table.add_row({{fmt::format("{}..{}", c.smallest_request, c.block_bytes)},
                   {std::to_string(c.block_bytes)},
                   {std::to_string(c.stride)},
                   {std::to_string(c.slab_bytes)},
                   {std::to_string(c.block_count)},
                   {std::to_string(c.tail_bytes())},
                   {fmt::format("{:.1f}", c.tail_percent())},
                   {fmt::format("{:.1f}", c.worst_waste_percent())},
                   {fmt::format("{:.1f}", c.mean_waste_percent())}});
  return table;
}

Json json_of(const std::vector<ListedClass>& classes) {
  Json json = Json::array();
  for (const ListedClass& c : classes)
    json.push_back({{"smallest_request", c.smallest_request},
                    {"block_bytes", c.block_bytes},
                    {"stride", c.stride},
                    {"slab_bytes", c.slab_bytes},
                    {"block_count", c.block_count},
                    {"tail_bytes", c.tail_bytes()},
                    {"worst_waste_percent", c.worst_waste_percent()},
                    {"mean_waste_percent", c.mean_waste_percent()}});
  return json;
}

/// The largest share of a block that a request above 128 B leaves unused.
double worst_above_128(const std::vector<ListedClass>& classes) {
  double worst = 0;
  for (const ListedClass& c : classes)
    if (c.smallest_request > 128) worst = std::max(worst, c.worst_waste_percent());
  return worst;
}

int print_classes(const ClassesOptions& options) {
  const internal::SizeClassPreset& preset = preset_of_name(options.preset);
  const std::vector<ListedClass> classes = list_classes(preset), aligned = list_aligned_classes();
  if (options.as_json) {
    fmt::print(
        "{}",
        text_of({{"preset", options.preset}, {"classes", json_of(classes)}, {"aligned", json_of(aligned)}}));
    return 0;
  }
  const Colour colour = colour_for(STDOUT_FILENO);
  fmt::print(
      "Size classes of '{}', in bytes. Requests of a range get one block; stride is the distance of two "
      "blocks;\n"
      "tail is what a slab has left behind its last block; worst and mean are the unused share of a "
      "block.\n\n",
      options.preset);
  fmt::print("{}\n{} classes; above 128 bytes a request wastes at most {:.1f} % of its block.\n\n",
             table_of(classes).render(colour), classes.size(), worst_above_128(classes));
  fmt::print("For alignments above 16 bytes, each block aligned to its own size:\n\n{}",
             table_of(aligned).render(colour));
  return 0;
}

}  // namespace

void add_classes_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command =
      add_command(app, "classes", "Print the size classes of a preset and what they waste.",
                  fmt::format("tarn classes [--preset {}] [--json]", internal::kSizeClassPresetNames.text),
                  "  tarn classes\n  tarn classes --preset lfh128\n");
  auto options = std::make_shared<ClassesOptions>();
  command->add_option("--preset", options->preset, kPresetNames.text)->type_name("NAME");
  command->add_flag("--json", options->as_json, "Print JSON");
  command->callback(
      [options, &invocation] { invocation.work = [options] { return print_classes(*options); }; });
}

}  // namespace tarn::tool
