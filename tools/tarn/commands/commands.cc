// The look of every --help: one usage line, options, examples; and the command's own front page.
#include "commands/commands.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>  // defines what App.hpp only declares
#include <CLI/Formatter.hpp>
#include <cmath>
#include <string>

#include "system/figures/format.h"
#include "system/files/usage_error.h"
#include "tarn/version.h"

namespace tarn::tool {
namespace {

constexpr const char* kFrontPageExamples =
    "Examples:\n"
    "  tarn run --stats -- git log --oneline      run a program on the pool and see what it used\n"
    "  tarn compare -- python3 work.py            run it on every allocator of this machine\n"
    "  tarn compare --plot r.png -- ./server      the same, as a picture\n"
    "  tarn bench --quick                         the sources' benchmarks on every allocator\n"
    "  tarn classes --preset lfh128               size classes and what they waste\n"
    "  tarn options                               what can be set, and how\n"
    "  tarn heap game_server                      which C++ classes its memory holds, while it runs\n"
    "  tarn leaks 4711                            what a running process has lost\n"
    "  tarn profile 4711 -o flame.html            who asks for a running program's memory\n"
    "  tarn map game_server                       each page of a running program, and who pins what\n"
    "  tarn doctor game_server                    what is wrong with its memory, and what to do\n"
    "  tarn ps                                    which processes run on tarn, and their memory\n"
    "  tarn top game_server                       where a running program's memory is\n"
    "  tarn record -o server.trace -- ./server    each call that a program makes of its allocator\n"
    "  tarn replay server.trace --serial          a recorded program's calls on every allocator\n"
    "  tarn tune server.trace --out tarn.conf     the settings with which that program needs least memory\n"
    "\n"
    "`tarn help COMMAND` tells more; so does tarn(1).";

class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::string usage) : usage_(std::move(usage)) { column_width(34); }
  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
  std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const override;

 private:
  std::string usage_;
};

std::string HelpFormatter::make_usage(const CLI::App*, std::string) const {
  return "Usage: " + usage_ + "\n";
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  const std::string type = option->get_type_name();
  return type.empty() ? "" : " " + type;
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  constexpr std::size_t kWidth = 74;
  std::string text;
  for (const std::string& line : wrap(option->get_description(), kWidth))
    text += (text.empty() ? "" : "\n") + line;
  return text;
}

std::string HelpFormatter::make_subcommands(const CLI::App* app, CLI::AppFormatMode) const {
  std::string text;
  for (const CLI::App* command : app->get_subcommands([](const CLI::App*) { return true; }))
    text += fmt::format("  {:<10}{}\n", command->get_name(), command->get_description());
  return text.empty() ? "" : "\nCommands:\n" + text;
}

}  // namespace

CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& description,
                      const std::string& usage, const std::string& examples) {
  CLI::App* command = app.add_subcommand(name, description);
  command->formatter(std::make_shared<HelpFormatter>(usage));
  command->allow_extras();  // main() names what does not belong there
  command->option_defaults()->take_last();
  command->set_help_flag("-h,--help", "Print this");
  if (!examples.empty())
    command->footer("Examples:\n" + examples.substr(0, examples.find_last_not_of('\n') + 1));
  return command;
}

int measuring_status(int interrupted_by, bool has_failure) {
  return interrupted_by != 0 ? kSignalStatus + interrupted_by : has_failure ? 1 : 0;
}

void require_range(const char* option, double value, double least, double most) {
  if (std::isnan(value) || value < least || value > most)
    throw UsageError(fmt::format("{} takes {} to {}, not {}", option, least, most, value));
}

void require_program(const Invocation& invocation, const std::string& command) {
  if (invocation.program.empty())
    throw UsageError(
        fmt::format("no program to run: put it behind `--`, as in `tarn {} -- PROGRAM ARGS`", command));
}

void set_front_page(CLI::App& app) {
  app.description("tarn: programs on a memory pool, and how it compares.");
  app.formatter(std::make_shared<HelpFormatter>("tarn COMMAND [OPTIONS] [-- PROGRAM [ARGS...]]"));
  app.set_help_flag("-h,--help", "Print this");
  app.set_version_flag("--version", std::string("tarn ") + TARN_VERSION_STRING, "Print the version");
  app.require_subcommand(0, 1);
  app.footer(kFrontPageExamples);
}

}  // namespace tarn::tool
