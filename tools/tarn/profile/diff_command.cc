// `tarn diff`: what became more between two files that `tarn profile` or `tarn heap` wrote.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "commands/commands.h"
#include "look/heap/heap_document.h"
#include "look/heap/heap_report.h"
#include "observer/files/input_file.h"
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
};

constexpr const char* kDiffExamples =
    "  tarn profile 4711 -o monday.json; tarn profile 4711 -o friday.json; tarn diff monday.json "
    "friday.json\n"
    "  tarn diff old_build.json new_build.json      functions are compared, not addresses\n"
    "  tarn heap 4711 --save a.json; tarn heap 4711 --save b.json; tarn diff a.json b.json\n";

constexpr std::uint64_t kLargestDocument = std::uint64_t{1} << 30;  // bytes

/// The files that can be compared, by their schema.
constexpr const char *kOfProfile = "tarn profile", *kOfHeap = "tarn heap";

Json document_in(const std::string& path) {
  const observer::InputFile file = observer::open_regular_file(path);
  if (!file.is_open()) throw UsageError(fmt::format("{} cannot be read: {}", path, std::strerror(errno)));
  if (file.bytes() > kLargestDocument)
    throw UsageError(fmt::format("{} is larger than what the commands write", path));
  std::string text(file.bytes(), '\0');
  text.resize(file.read(0, text.data(), text.size()));
  Json json = Json::parse(text, nullptr, false);
  const std::string schema = json.is_object() && json.contains("schema") && json["schema"].is_string()
                                 ? json["schema"].get<std::string>()
                                 : "";
  if (schema != kOfProfile && schema != kOfHeap)
    throw UsageError(
        fmt::format("{} holds nothing to compare: `tarn profile -o FILE.json` and `tarn heap --save FILE` "
                    "write such files",
                    path));
  return json;
}

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
  if (options.by_lines) throw UsageError("--by-lines is for profiles: a heap has no stacks");
  const EarlierCensus before = read_heap_document(options.before), after = read_heap_document(options.after);
  if (before.has_contents != after.has_contents)
    throw UsageError("one of the two was made with --no-content, and has sizes in place of classes");
  const auto growth = observer::growth_since(before.groups, after.groups);
  const double seconds = std::max(after.time - before.time, 0.0);
  print_document(options.as_json ? text_of(heap_growth_document(growth, seconds))
                                 : growth_report(after.program, growth, seconds,
                                                 {options.rows, line_width(), colour_for(STDOUT_FILENO)}));
  return 0;
}

int diff(const DiffOptions& options) {
  const Json before = document_in(options.before), after = document_in(options.after);
  if (before["schema"] != after["schema"])
    throw UsageError(fmt::format("{} is of {}, {} of {}: only two of a kind can be compared", options.before,
                                 before["schema"].get<std::string>(), options.after,
                                 after["schema"].get<std::string>()));
  if (before["schema"] == kOfHeap) return diff_of_heaps(options);
  try {
    return diff_of_profiles(options, before, after);
  } catch (const Json::exception&) {
    throw UsageError(fmt::format("{} or {} is damaged", options.before, options.after));
  }
}

}  // namespace

void add_diff_command(CLI::App& app, Invocation& invocation) {
  CLI::App& command = add_command(app, "diff", "Tell what became more between two profiles or heaps.",
                                  "tarn diff BEFORE AFTER [OPTIONS]", kDiffExamples);
  auto options = std::make_shared<DiffOptions>();
  add_word(command, "BEFORE", options->before,
           "A file that `tarn profile -o FILE.json` or `tarn heap --save FILE` wrote")
      .required();
  add_word(command, "AFTER", options->after, "A later one, or one of another build").required();
  add_flag(command, "--by-lines", options->by_lines,
           "Stacks of profiles are the same if their lines are too, not only their functions");
  add_value(command, "--top N", options->rows, "The most rows of growth, and of shrinkage; 0: all (20)");
  add_flag(command, "--json", options->as_json, "Print JSON");
  on_call(command, invocation, options, diff);
}

}  // namespace tarn::tool
