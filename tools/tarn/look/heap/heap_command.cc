// `tarn heap`: which C++ classes the live blocks of a program are of.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "commands/commands.h"
#include "look/heap/heap_document.h"
#include "look/heap/heap_report.h"
#include "look/processes/target.h"
#include "observer/watch/sampling.h"
#include "profile/reports/top_sites.h"
#include "system/files/files.h"
#include "system/files/output_files.h"
#include "system/files/usage_error.h"
#include "system/terminal/progress.h"
#include "system/terminal/terminal.h"
#include "taken/taken_profile.h"

namespace tarn::tool {
namespace {

struct HeapOptions {
  Target target;
  std::string since, save;
  bool as_json = false, leaves_contents = false;
  std::size_t rows = 30;
};

constexpr const char* kHeapExamples =
    "  tarn heap game_server                         what its heap is made of\n"
    "  tarn heap 4711 --save monday.json             and remember it\n"
    "  tarn heap 4711 --since monday.json            which classes grew since\n"
    "  tarn heap --core core.4711 --top 0            all classes in a core file\n"
    "  tarn heap 4711 --no-content                   by sizes and pools: no block is read\n";

observer::Census count(const observer::Source& source, const observer::Snapshot& snapshot,
                       observer::Contents contents) {
  observer::ClassNames names(source);
  Progress progress(ProgressStyle::kLateLine);
  const observer::Census census = observer::take_census(source, snapshot, names, contents, [&](double share) {
    progress.begin_run(fmt::format("reading blocks: {:.0f} %", 100 * share));
  });
  progress.clear();
  return census;
}

/// The objects by type, as the program's samples tell; where it takes none, how to let it.
std::string types_text(const observer::Source& source, std::size_t rows) {
  const observer::SamplingWords words(source);
  observer::Sampling sampling = words.read();
  // Samples of an earlier profile say nothing of what was made since.
  if (sampling.interval == 0)
    return "\nObjects without a virtual function: tarn profile PID --types tells their types, by samples.\n";
  const std::uint64_t interval = sampling.interval;
  const profile::NamedProfile profile(
      taken_profile(source, {.sampling = {}, .began_with_program = began_with_program(source)},
                    std::move(sampling), interval, 0),
      symbol_places(source));
  return "\nBy type, estimated from samples:\n" +
         top_sites_text(profile, {.row_of = profile::RowOf::kType,
                                  .rows = rows,
                                  .columns = columns_of(STDOUT_FILENO, kWidthOfText)});
}

/// The exact report stays where samples cannot be read, as in a library that is older.
void print_with_types(const HeapOptions& options, const observer::Source& source, const std::string& report) {
  fmt::print("{}", report);
  try {
    fmt::print("{}", types_text(source, options.rows));
  } catch (const observer::ObserveError&) {
    return;
  }
}

void print_growth(const HeapOptions& options, const observer::Snapshot& snapshot,
                  const observer::Census& census, const EarlierCensus& earlier) {
  const auto growth = observer::growth_since(earlier.groups, census.groups);
  const double seconds = std::max(snapshot.time - earlier.time, 0.0);
  if (options.as_json)
    print_document(text_of(heap_growth_document(growth, seconds)));
  else
    fmt::print("{}", growth_report(title_of(snapshot), growth, seconds,
                                   {options.rows, line_width(), colour_for(STDOUT_FILENO)}));
}

int print_heap(const HeapOptions& options) {
  std::optional<EarlierCensus> earlier;
  if (!options.since.empty()) earlier = read_heap_document(options.since);
  if (earlier && earlier->has_contents == options.leaves_contents)
    throw UsageError("--since and this heap differ in --no-content: one has sizes in place of classes");
  if (!options.save.empty()) open_output(options.save);
  const std::unique_ptr<observer::Source> source = open_target(options.target);
  const observer::Snapshot snapshot = observer::read_snapshot(*source);
  const auto contents = options.leaves_contents ? observer::Contents::kLeave : observer::Contents::kRead;
  const observer::Census census = count(*source, snapshot, contents);
  const Json document = heap_document(snapshot, census, contents);
  if (!options.save.empty()) write_file(options.save, text_of(document));
  if (earlier)
    print_growth(options, snapshot, census, *earlier);
  else if (options.as_json)
    print_document(text_of(document));
  else
    print_with_types(
        options, *source,
        heap_report(snapshot, census, contents, {options.rows, line_width(), colour_for(STDOUT_FILENO)}));
  return 0;
}

}  // namespace

void add_heap_command(CLI::App& app, Invocation& invocation) {
  CLI::App& command = add_command(app, "heap", "Count a program's live blocks by C++ class, from outside.",
                                  "tarn heap PID|NAME [OPTIONS]", kHeapExamples);
  auto options = std::make_shared<HeapOptions>();
  add_target(command, options->target);
  add_value(command, "--since FILE", options->since, "Show what grew since --save wrote this file");
  add_value(command, "--save FILE", options->save, "Write the counts, as JSON, for a later --since");
  add_flag(command, "--no-content", options->leaves_contents,
           "Read no block: count by sizes and pools, without classes");
  add_top(command, options->rows, "30");
  add_flag(command, "--json", options->as_json, "Print JSON");
  on_call(command, invocation, options, print_heap);
}

}  // namespace tarn::tool
