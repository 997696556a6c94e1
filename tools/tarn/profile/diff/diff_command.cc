// `tarn diff`: what became more between two files that other commands wrote.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "commands/commands.h"
#include "look/heap/heap_document.h"
#include "look/heap/heap_report.h"
#include "profile/diff/compared_file.h"
#include "profile/reports/growth.h"
#include "system/files/output_files.h"
#include "system/files/usage_error.h"
#include "system/terminal/terminal.h"

namespace tarn::tool {
namespace {

struct DiffOptions {
  std::string before, after;
  bool by_lines = false, as_json = false;
  std::size_t rows = 20;

  ReportShape shape() const { return {rows, line_width(), colour_for(STDOUT_FILENO)}; }
};

constexpr const char* kDiffExamples =
    "  tarn profile 4711 -o monday.json; tarn profile 4711 -o friday.json; tarn diff monday.json "
    "friday.json\n"
    "  tarn diff old_build.json new_build.json      functions are compared, not addresses\n"
    "  tarn heap 4711 --save a.json; tarn heap 4711 --save b.json; tarn diff a.json b.json\n"
    "  tarn record -o a.trace -- ./old; tarn record -o b.trace -- ./new; tarn diff a.trace b.trace\n"
    "  tarn top 4711 --once --json > a.json         later again, to b.json; then: tarn diff a.json b.json\n";

int diff_of_profiles(const DiffOptions& options, const Json& before, const Json& after) {
  const auto same = options.by_lines ? profile::SameStack::kLines : profile::SameStack::kFunctions;
  const std::vector<profile::StackGrowth> growth = profile::growth_between(before, after, same);
  print_document(options.as_json ? text_of(profile::growth_json(growth))
                                 : profile::growth_text(growth, {},
                                                        {.rows = options.rows,
                                                         .columns = columns_of(STDOUT_FILENO, kWidthOfText),
                                                         .same = same}));
  return 0;
}

int diff_of_heaps(const DiffOptions& options) {
  const EarlierCensus before = read_heap_document(options.before), after = read_heap_document(options.after);
  if (before.has_contents != after.has_contents)
    throw UsageError("one of the two was made with --no-content, and has sizes in place of classes");
  const auto growth = observer::growth_since(before.groups, after.groups);
  const double seconds = std::max(after.time - before.time, 0.0);
  print_document(options.as_json ? text_of(heap_growth_document(growth, seconds))
                                 : growth_report(after.program, growth, seconds, options.shape()));
  return 0;
}

int diff_of_figures(const DiffOptions& options, const ComparedFigures& before, const ComparedFigures& after) {
  print_document(options.as_json ? text_of(changes_json(before, after))
                                 : changes_text(before, after, options.shape()));
  return 0;
}

int diff(const DiffOptions& options) {
  const ComparedFile before = open_compared(options.before), after = open_compared(options.after);
  if (before.kind != after.kind)
    throw UsageError(fmt::format("{} is of {}, {} of {}: only two of a kind can be compared", before.path,
                                 before.kind, after.path, after.kind));
  if (options.by_lines && before.kind != kOfProfile)
    throw UsageError(fmt::format("--by-lines is for profiles: a file of {} has no stacks", before.kind));
  if (before.kind == kOfHeap) return diff_of_heaps(options);
  try {
    if (before.kind == kOfProfile) return diff_of_profiles(options, before.document, after.document);
    return diff_of_figures(options, figures_of(before), figures_of(after));
  } catch (const Json::exception&) {
    throw UsageError(fmt::format("{} or {} is damaged", before.path, after.path));
  }
}

}  // namespace

void add_diff_command(CLI::App& app, Invocation& invocation) {
  CLI::App& command =
      add_command(app, "diff", "Tell what became more between two profiles, heaps, traces or snapshots.",
                  "tarn diff BEFORE AFTER [OPTIONS]", kDiffExamples);
  auto options = std::make_shared<DiffOptions>();
  add_word(command, "BEFORE", options->before,
           "A file of `tarn profile -o FILE.json`, `tarn heap --save FILE`, `tarn record`, `tarn top --once "
           "--json` or `tarn map --json`")
      .required();
  add_word(command, "AFTER", options->after, "A later one, or one of another build").required();
  add_flag(command, "--by-lines", options->by_lines,
           "Stacks of profiles are the same if their lines are too, not only their functions");
  add_top(command, options->rows, "20");
  add_flag(command, "--json", options->as_json, "Print JSON");
  on_call(command, invocation, options, diff);
}

}  // namespace tarn::tool
