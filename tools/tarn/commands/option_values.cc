// Option values as text; the reading is the library's.
#include "commands/option_values.h"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "base/options/option_parser.h"
#include "commands/closest_name.h"
#include "commands/commands.h"
#include "report/results.h"
#include "report/table.h"
#include "system/figures/format.h"
#include "system/files/usage_error.h"
#include "system/terminal/terminal.h"
#include "tarn/version.h"

namespace tarn::tool {
namespace {

using internal::OptionInfo;
using internal::OptionKind;

/// Exactly, in the largest unit that leaves a whole number.
std::string format_size(std::int64_t bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes != 0 && bytes % 1024 == 0 && unit + 1 < std::size(units); ++unit) bytes /= 1024;
  return fmt::format("{} {}", bytes, units[unit]);
}

// -- `tarn options` --------------------------------------------------------------------------------------

constexpr std::size_t kHelpWidth = 96;

void print_option(const OptionInfo& option, Colour colour) {
  fmt::print("{}\n", styled(option.key, Style::kHeading, colour));
  fmt::print("    {}  default {}  takes {}\n", internal::environment_name(option).text,
             format_option_value(option, option.default_value), format_accepted_values(option));
  for (const std::string& line : wrap(option.help, kHelpWidth)) fmt::print("    {}\n", line);
  if (option.change == internal::OptionChange::kAnyTime)
    fmt::print("    May change while the program runs.\n");
}

Json json_of(const OptionInfo& option) {
  Json json = {{"name", option.key},
               {"environment", internal::environment_name(option).text},
               {"kind", internal::kind_name(option.kind)},
               {"default", format_option_value(option, option.default_value)},
               {"accepts", format_accepted_values(option)},
               {"changes_at_run_time", option.change == internal::OptionChange::kAnyTime},
               {"help", option.help}};
  if (option.kind == internal::OptionKind::kBytes || option.kind == internal::OptionKind::kMilliseconds ||
      option.kind == internal::OptionKind::kNumber) {
    json["default_value"] = option.default_value;
    json["minimum"] = option.minimum;
    json["maximum"] = option.maximum;
  }
  return json;
}

int print_options(bool as_json) {
  if (as_json) {
    Json json = {{"options", Json::array()}};
    for (const OptionInfo& option : internal::kOptionTable) json["options"].push_back(json_of(option));
    fmt::print("{}", text_of(observer::document_json("tarn options", 1, TARN_VERSION_STRING, json)));
    return 0;
  }
  const Colour colour = colour_for(STDOUT_FILENO);
  fmt::print("{}\n\n", kHowOptionsAreSet);
  for (const OptionInfo& option : internal::kOptionTable) print_option(option, colour);
  return 0;
}

}  // namespace

std::string format_option_value(const OptionInfo& option, std::int64_t value) {
  switch (option.kind) {
    case OptionKind::kBool:
      return value != 0 ? "on" : "off";
    case OptionKind::kChoice:
      return std::string(internal::choice_name(option, value));
    case OptionKind::kMilliseconds:
      return value >= 10'000 && value % 1000 == 0 ? fmt::format("{} s", value / 1000)
                                                  : fmt::format("{} ms", value);
    case OptionKind::kNumber:
      return fmt::format("{}", value);
    case OptionKind::kPath:
      return "none";
    case OptionKind::kBytes:
      break;
  }
  return format_size(value);
}

std::string format_accepted_values(const OptionInfo& option) {
  switch (option.kind) {
    case OptionKind::kBool:
      return "on|off";
    case OptionKind::kChoice:
      return option.choices;
    case OptionKind::kPath:
      return "a file name";
    case OptionKind::kBytes:
    case OptionKind::kMilliseconds:
    case OptionKind::kNumber:
      break;
  }
  return fmt::format("{} .. {}", format_option_value(option, option.minimum),
                     format_option_value(option, option.maximum));
}

std::pair<std::string, std::string> parse_setting(const std::string& setting, const char* flag) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos)
    throw UsageError(fmt::format("{} takes key=value, not '{}'", flag, setting));
  const std::string key = setting.substr(0, equals), value = setting.substr(equals + 1);
  const OptionInfo* const option = internal::find_option(key);
  if (option == nullptr) {
    std::vector<std::string> keys;
    for (const OptionInfo& one : internal::kOptionTable) keys.emplace_back(one.key);
    throw UsageError(fmt::format("unknown option '{}' in {}{}; `tarn options` lists them", key, flag,
                                 did_you_mean(key, keys)));
  }
  std::int64_t number = 0;
  if (!internal::parse_option_value(*option, value, &number))
    throw UsageError(
        fmt::format("{} {}: '{}' is not one of {}", flag, key, value, format_accepted_values(*option)));
  return {internal::environment_name(*option).text, value};
}

void set_options(Environment& environment, const std::vector<std::string>& settings) {
  for (const std::string& setting : settings) {
    const auto [name, value] = parse_setting(setting);
    environment.set(name, value);
  }
}

void add_options_command(CLI::App& app, Invocation& invocation) {
  CLI::App& command = add_command(app, "options", "List the options of the library.", "tarn options [--json]",
                                  "  tarn options\n"
                                  "  TARN_HUGE_PAGES=always tarn run -- ./server\n");
  auto as_json = std::make_shared<bool>(false);
  add_flag(command, "--json", *as_json, "Print JSON");
  on_call(command, invocation, as_json, print_options);
}

}  // namespace tarn::tool
