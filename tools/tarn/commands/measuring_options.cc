#include "commands/measuring_options.h"

#include <fmt/format.h>

#include "commands/option_values.h"
#include "system/files/files.h"
#include "system/files/usage_error.h"

namespace tarn::tool {
namespace {

constexpr int kMostRounds = 1000;
constexpr double kMostTimeoutSeconds = 7 * 24 * 3600;

/// A setting is an option of the library, or any NAME=VALUE of the environment in capitals.
std::pair<std::string, std::string> variant_setting(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const bool is_variable = equals != std::string::npos && !name.empty() &&
                           name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == name.npos;
  return is_variable ? std::pair(name, text.substr(equals + 1)) : parse_setting(text, "--variant");
}

/// "LABEL:KEY=VALUE,KEY=VALUE"
Allocator variant_of(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || colon == 0)
    throw UsageError(fmt::format("--variant takes LABEL:KEY=VALUE[,KEY=VALUE], not '{}'", text));
  Allocator variant = {text.substr(0, colon), ""};
  for (std::size_t at = colon + 1; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    variant.settings.push_back(variant_setting(text.substr(at, end - at)));
    at = end + 1;
  }
  return variant;
}

}  // namespace

void MeasuringOptions::check() {
  require_range("--rounds", rounds, 1, kMostRounds);
  require_range("--timeout", timeout_seconds, 0.001, kMostTimeoutSeconds);
  for (const std::string& setting : settings) selection.tarn_settings.push_back(parse_setting(setting));
  for (const std::string& variant : variants) selection.variants.push_back(variant_of(variant));
  output.check({".json", ".html"}, [](const std::string& file) { require_writable(file); });
}

void add_selection_options(CLI::App& command, MeasuringOptions& options) {
  add_list(command, "--with NAME|PATH,...", options.selection.with,
           "Besides glibc and tarn, only these: mimalloc, jemalloc, tcmalloc, tbb, the path of a .so, "
           "NAME=PATH, all, none");
  add_list(command, "--without NAME,...", options.selection.without, "Leave these out");
  add_values(command, "--set KEY=VALUE", options.settings,
             "Set an option of the library (see tarn options), for tarn alone");
  add_values(command, "--variant LABEL:KEY=VALUE[,...]", options.variants,
             "tarn once more, under this name and with these options of the library, or variables of the "
             "environment");
}

void add_round_options(CLI::App& command, MeasuringOptions& options) {
  add_value(command, "--rounds N", options.rounds, fmt::format("Measured rounds ({})", options.rounds));
  add_value(command, "--timeout TIME", options.timeout_seconds, "Kill a run that takes longer (600s)")
      .as_seconds();
}

void add_result_options(CLI::App& command, MeasuringOptions& options, const std::string& what_page_shows) {
  add_result_output(command, options.output,
                    "every run, the summary and the machine (.json), or " + what_page_shows + " (.html)");
  add_flag(command, "--quiet", options.is_quiet, "No progress");
}

}  // namespace tarn::tool
