// `tarn options`: the library's options, straight from its own table.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "base/options/option_parser.h"
#include "commands/commands.h"
#include "commands/option_values.h"
#include "report/results.h"
#include "report/table.h"
#include "system/figures/format.h"
#include "system/terminal/terminal.h"

namespace tarn::tool {
namespace {

using internal::OptionInfo;

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
    Json json = Json::array();
    for (const OptionInfo& option : internal::kOptionTable) json.push_back(json_of(option));
    fmt::print("{}", text_of(json));
    return 0;
  }
  const Colour colour = colour_for(STDOUT_FILENO);
  fmt::print(
      "Set by the environment names below, or as \"key:value,key:value\" in TARN_CONF, in the file that\n"
      "TARN_CONF_FILE names, in /etc/tarn.conf, or for one program by `tarn run --set key=value`.\n"
      "Sizes take K, M, G; times take ms, s. A program may bring defaults along (tarn_conf) and set options\n"
      "itself (tarn/options.h): before its first allocation, or where it says so, also while it runs.\n\n");
  for (const OptionInfo& option : internal::kOptionTable) print_option(option, colour);
  return 0;
}

}  // namespace

void add_options_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command = add_command(app, "options", "List the options of the library.", "tarn options [--json]",
                                  "  tarn options\n"
                                  "  TARN_HUGE_PAGES=always tarn run -- ./server\n");
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "Print JSON");
  on_call(*command, invocation, as_json, print_options);
}

}  // namespace tarn::tool
