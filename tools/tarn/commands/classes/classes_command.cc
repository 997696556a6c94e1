// `tarn classes`: the size classes of a preset or a file and what they waste, on the whole or for a program
// whose live sizes are known; and the table that wastes least for one.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "commands/classes/class_costs.h"
#include "commands/classes/size_class_list.h"
#include "commands/commands.h"
#include "report/results.h"
#include "report/table.h"
#include "system/files/files.h"
#include "system/terminal/terminal.h"
#include "tarn/version.h"

namespace tarn::tool {
namespace {

struct ClassesOptions {
  std::string preset = internal::kSizeClassPresets[0].name;
  std::string file;       // a table, instead of a preset
  std::string histogram;  // of live sizes
  std::string fit;        // the same, to make a table for
  std::string output;     // where that table goes
  double price = tune::FitOptions{}.price;
  unsigned most_classes = tune::FitOptions{}.most_classes;
  bool merges_small = false;
  bool as_json = false;
  std::size_t rows = 0;

  std::string name() const { return file.empty() ? preset : file; }
  internal::BlockSizes table() const {
    return file.empty() ? internal::sizes_of_preset(preset_of_name(preset)) : read_class_file(file);
  }
  bool is_of_buckets() const { return file.empty() && preset == "lfh128"; }
};

Table table_of(const std::vector<ListedClass>& classes, std::size_t most_rows) {
  Table table({"requests", "block", "stride", "slab", "blocks", "tail", "tail %", "worst %", "mean %"});
  for (const ListedClass& c : greatest(classes, most_rows, std::mem_fn(&ListedClass::mean_waste_percent)))
    table.add_row({fmt::format("{}..{}", c.smallest_request, c.block_bytes), std::to_string(c.block_bytes),
                   std::to_string(c.stride), std::to_string(c.slab_bytes), std::to_string(c.block_count),
                   std::to_string(c.tail_bytes()), fmt::format("{:.1f}", c.tail_percent()),
                   fmt::format("{:.1f}", c.worst_waste_percent()),
                   fmt::format("{:.1f}", c.mean_waste_percent())});
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

Table table_of(const std::vector<Bucket>& buckets, std::size_t most_rows) {
  Table table({"bucket", "bytes", "block", "waste %", {"", Alignment::kLeft}});
  for (const Bucket& bucket : greatest(buckets, most_rows, std::mem_fn(&Bucket::waste_percent)))
    table.add_row({std::to_string(bucket.number), std::to_string(bucket.bytes),
                   std::to_string(bucket.served_by), fmt::format("{:.1f}", bucket.waste_percent()),
                   bucket.is_class() ? "" : "blocks would not be aligned to 16 bytes"});
  return table;
}

Json json_of(const std::vector<Bucket>& buckets) {
  Json json = Json::array();
  for (const Bucket& bucket : buckets)
    json.push_back({{"bucket", bucket.number},
                    {"bytes", bucket.bytes},
                    {"is_class", bucket.is_class()},
                    {"served_by", bucket.served_by},
                    {"waste_percent", bucket.waste_percent()}});
  return json;
}

/// The largest share of a block, of at most `up_to` bytes, that a request of more than `above` leaves unused.
double worst_between(const std::vector<ListedClass>& classes, std::uint32_t above, std::uint32_t up_to) {
  double worst = 0;
  for (const ListedClass& c : classes)
    if (c.smallest_request > above && c.block_bytes <= up_to)
      worst = std::max(worst, c.worst_waste_percent());
  return worst;
}

void print_buckets(std::size_t most_rows, Colour colour) {
  const std::vector<Bucket> buckets = list_buckets();
  const auto classes = std::count_if(buckets.begin(), buckets.end(), std::mem_fn(&Bucket::is_class));
  fmt::print(
      "\nThe {} buckets of the Windows Low Fragmentation Heap: {} are classes here, the others are served by "
      "the next.\n\n{}",
      buckets.size(), classes, table_of(buckets, most_rows).render(colour));
}

std::string price_note(double price) {
  return fmt::format(
      "Waste is what blocks and {:.0f} bytes for each class in use cost above the floor: requests rounded up "
      "to 16 bytes.\n",
      price);
}

int print_classes_as_json(const ClassesOptions& options, const internal::BlockSizes& sizes) {
  Json json = options.file.empty() ? Json{{"preset", options.preset}} : Json{{"file", options.file}};
  json["classes"] = json_of(list_classes(sizes));
  json["aligned"] = json_of(list_aligned_classes());
  if (options.is_of_buckets()) json["buckets"] = json_of(list_buckets());
  if (!options.histogram.empty())
    json["cost"] = cost_json(
        {options.name(), tune::cost_of(sizes, read_histogram_file(options.histogram), options.price)});
  fmt::print("{}", text_of(observer::document_json("tarn classes", 1, TARN_VERSION_STRING, json)));
  return 0;
}

int print_classes(const ClassesOptions& options) {
  const internal::BlockSizes sizes = options.table();
  if (options.as_json) return print_classes_as_json(options, sizes);
  const Colour colour = colour_for(STDOUT_FILENO);
  if (!options.histogram.empty()) {
    const tune::TableCost cost = tune::cost_of(sizes, read_histogram_file(options.histogram), options.price);
    fmt::print("{}\n{}", cost_table({{options.name(), cost}}).render(colour), price_note(options.price));
    return 0;
  }
  const std::vector<ListedClass> classes = list_classes(sizes);
  fmt::print(
      "Size classes of '{}', in bytes. Requests of a range get one block; stride is the distance of two "
      "blocks;\n"
      "tail is what a slab has left behind its last block; worst and mean are the unused share of a "
      "block.\n\n",
      options.name());
  fmt::print(
      "{}\n{} classes; above 128 bytes a request wastes at most {:.1f} % of its block, above 32 KiB it "
      "leaves at "
      "most\n{:.1f} % of its block untouched, which takes no memory.\n\n",
      table_of(classes, options.rows).render(colour), classes.size(),
      worst_between(classes, 128, internal::kOwnSlabBlockBytes),
      worst_between(classes, internal::kOwnSlabBlockBytes, tarn::detail::kMediumLimit));
  fmt::print("For alignments above 16 bytes, each block aligned to its own size:\n\n{}",
             table_of(list_aligned_classes(), options.rows).render(colour));
  if (options.is_of_buckets()) print_buckets(options.rows, colour);
  return 0;
}

tune::FitOptions fit_options(const ClassesOptions& options) {
  const auto small = options.merges_small ? tune::SmallClasses::kMayMerge : tune::SmallClasses::kKeepAll;
  const double fewest = tune::fewest_classes(small);
  require_range("--price", options.price, 0, 1 << 30);
  require_range("--most", options.most_classes, fewest, internal::BlockSizes::kMost);
  return {.price = options.price, .most_classes = options.most_classes, .small_classes = small};
}

void write_table(const ClassesOptions& options, const internal::BlockSizes& sizes, const std::string& gain) {
  write_file(options.output,
             tune::text_of_table(sizes, fmt::format("Made by tarn classes for the live sizes in {}.\n"
                                                    "Beside '{}' it {}.",
                                                    options.fit, options.name(), gain)));
}

/// Makes a table for a program and says what it gains beside the one chosen.
int print_fit(const ClassesOptions& options) {
  const tune::FitOptions wanted = fit_options(options);
  if (!options.output.empty()) require_writable(options.output);
  const tune::SizeHistogram histogram = read_histogram_file(options.fit);
  const internal::BlockSizes before = options.table(), after = tune::fit(histogram, wanted);
  const std::string name = options.output.empty() ? "fitted" : options.output;
  const TableOfCost costs[] = {{options.name(), tune::cost_of(before, histogram, options.price)},
                               {name, tune::cost_of(after, histogram, options.price)}};
  const std::string gain = describe_gain(costs[0].cost, costs[1].cost);
  if (!options.output.empty()) write_table(options, after, gain);
  if (options.as_json) {
    fmt::print("{}", text_of(observer::document_json(
                         "tarn classes --fit", 1, TARN_VERSION_STRING,
                         {{"before", cost_json(costs[0])},
                          {"after", cost_json(costs[1])},
                          {"sizes", std::vector<std::uint32_t>(after.begin(), after.end())}})));
    return 0;
  }
  fmt::print("{}\n{}It {}.\n", cost_table({costs[0], costs[1]}).render(colour_for(STDOUT_FILENO)),
             price_note(options.price), gain);
  if (!options.output.empty()) fmt::print("Use it: TARN_CLASSES_FILE={}\n", options.output);
  return 0;
}

void add_options(CLI::App& command, ClassesOptions& options) {
  const AddedOption preset = add_value(command, "--preset NAME", options.preset, kPresetNames.text);
  add_value(command, "--file FILE", options.file,
            "A table of your own instead, as TARN_CLASSES_FILE names it")
      .excludes(preset);
  const AddedOption histogram = add_value(
      command, "--histogram FILE", options.histogram,
      "Say what the table wastes for these live sizes: lines of 'size count', or the JSON of `tarn profile`");
  const AddedOption fit =
      add_value(command, "--fit FILE", options.fit, "Make the table that wastes least for such a file")
          .excludes(histogram);
  add_value(command, "-o,--output FILE", options.output, "Write the table that was made").needs(fit);
  add_value(command, "--price BYTES", options.price, "Bytes that a class in use costs (4096)");
  add_value(command, "--most N", options.most_classes, "Most classes of the table that is made (161)")
      .needs(fit);
  add_flag(command, "--merge-small", options.merges_small,
           "Let sizes up to 1 KiB share classes: less memory, but some nanoseconds a request")
      .needs(fit);
  add_top(command, options.rows, "0");
  add_flag(command, "--json", options.as_json, "Print JSON");
}

}  // namespace

void add_classes_command(CLI::App& app, Invocation& invocation) {
  CLI::App& command = add_command(
      app, "classes", "Print size classes and what they waste, or make those that waste least.",
      fmt::format("tarn classes [--preset {} | --file FILE] [--histogram FILE | --fit FILE [-o FILE]] [--top "
                  "N] [--json]",
                  internal::kSizeClassPresetNames.text),
      "  tarn classes\n  tarn classes --preset lfh128\n  tarn classes --fit sizes.txt -o my.classes\n"
      "  tarn classes --file my.classes --histogram sizes.txt\n");
  auto options = std::make_shared<ClassesOptions>();
  add_options(command, *options);
  on_call(command, invocation, options, [](const ClassesOptions& given) {
    return given.fit.empty() ? print_classes(given) : print_fit(given);
  });
}

}  // namespace tarn::tool
