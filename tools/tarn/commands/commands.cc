// The look of every --help: one usage line, options, examples; and the command's own front page.
#include "commands/commands.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>  // defines what App.hpp only declares
#include <CLI/Formatter.hpp>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <type_traits>

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
    "  tarn diff monday.json friday.json          what became more between two profiles\n"
    "  tarn map game_server                       each page of a running program, and who pins what\n"
    "  tarn doctor game_server                    what is wrong with its memory, and what to do\n"
    "  tarn ps                                    which processes run on tarn, and their memory\n"
    "  tarn top game_server                       where a running program's memory is\n"
    "  tarn record -o server.trace -- ./server    each call that a program makes of its allocator\n"
    "  tarn replay server.trace --serial          a recorded program's calls on every allocator\n"
    "  tarn tune server.trace --out tarn.conf     the settings with which that program needs least memory\n"
    "\n"
    "Times are 5 or 5s, 500ms, 10m, 2h; sizes 4096, 64K, 2M, 1G.\n"
    "`tarn help COMMAND` and `man tarn-COMMAND` tell more.";

class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::string usage) : usage_(std::move(usage)) { column_width(34); }
  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
  std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const override;
  const std::string& usage() const { return usage_; }

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
  for (const CLI::App* command : commands_of(*app))
    text += fmt::format("  {:<12}{}\n", command->get_name(), command->get_description());
  return text.empty() ? "" : "\nCommands:\n" + text;
}

template <class Value>
struct NumberIn : std::type_identity<Value> {};
template <class Value>
struct NumberIn<std::optional<Value>> : std::type_identity<Value> {};

/// \returns what is wrong with the text of a number; "": nothing. \why the parser names types of its own
template <class Number>
std::string fault_of_number(const std::string& text) {
  if (std::is_unsigned_v<Number> && text.starts_with("-")) return "must not be negative";
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) return fmt::format("'{}' is too large", text);
  if (error == std::errc() && end == text.data() + text.size()) return {};
  return fmt::format("'{}' is no {}", text, std::is_integral_v<Number> ? "whole number" : "number");
}

/// What as_size and the like make of the text is checked behind them: CLI11 puts what transforms first.
template <class Value>
CLI::Option* add_named(CLI::App& command, const std::string& usage, Value& value, const std::string& help) {
  const std::size_t blank = usage.find(' ');
  CLI::Option* option =
      command.add_option(usage.substr(0, blank), value, help)->type_name(usage.substr(blank + 1));
  using Number = typename NumberIn<Value>::type;
  if constexpr (std::is_arithmetic_v<Number>) option->check(CLI::Validator(fault_of_number<Number>, ""));
  return option;
}

/// \why the parser's own message lists all its units
CLI::Validator in_own_words(const CLI::Validator& parser, const char* kind, const char* examples) {
  const auto parse = [=](std::string& text) -> std::string {
    std::string number = text;
    try {
      if (parser(number).empty()) {
        text = number;
        return {};
      }
    } catch (const CLI::ValidationError&) {
    }
    return fmt::format("'{}' is no {}: write {}", text, kind, examples);
  };
  return {parse, ""};
}

/// \why CLI11 takes "-1" for the largest number. What transforms last comes first.
CLI::Option* without_sign(CLI::Option* option) {
  const auto refuse = [](const std::string& text) {
    return std::string(text.starts_with("-") ? "must not be negative" : "");
  };
  return option->transform(CLI::Validator(refuse, ""));
}

}  // namespace

CLI::App& add_command(CLI::App& app, const std::string& name, const std::string& description,
                      const std::string& usage, const std::string& examples) {
  CLI::App& command = *app.add_subcommand(name, description);
  command.formatter(std::make_shared<HelpFormatter>(usage));
  command.allow_extras();  // main() names what does not belong there
  command.option_defaults()->take_last();
  command.set_help_flag("-h,--help", "Print this");
  if (!examples.empty())
    command.footer("Examples:\n" + examples.substr(0, examples.find_last_not_of('\n') + 1));
  return command;
}

AddedOption AddedOption::excludes(AddedOption other) const { return option_->excludes(other.option_); }
AddedOption AddedOption::needs(AddedOption other) const { return option_->needs(other.option_); }
AddedOption AddedOption::required() const { return option_->required(); }
AddedOption AddedOption::without_type() const { return option_->type_name(""); }

AddedOption AddedOption::value_may_be_left_out(const char* value) const {
  return option_->expected(0, 1)->default_str(value);
}

AddedOption AddedOption::as_size() const {
  return without_sign(
      option_->transform(in_own_words(CLI::AsSizeValue(false), "size", "4096, 64K, 2M or 1G")));
}

AddedOption AddedOption::as_count() const {
  const CLI::AsNumberWithUnit parser(
      std::map<std::string, std::uint64_t>{{"K", 1'000}, {"M", 1'000'000}, {"G", 1'000'000'000}},
      CLI::AsNumberWithUnit::CASE_INSENSITIVE);
  return without_sign(option_->transform(in_own_words(parser, "count", "4000, 64K, 20M or 1G")));
}

namespace {

/// \returns nothing of a text that is no time.
std::optional<double> seconds_in(const std::string& text) {
  constexpr std::pair<std::string_view, double> kUnits[] = {{"", 1},   {"ms", 0.001}, {"s", 1},
                                                            {"m", 60}, {"min", 60},   {"h", 3600}};
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const auto& [name, seconds] : kUnits)
    if (error == std::errc() && std::isfinite(number) && unit == name) return number * seconds;
  return {};
}

}  // namespace

AddedOption AddedOption::as_seconds() const {
  const auto to_seconds = [](std::string& text) -> std::string {
    const std::optional<double> seconds = seconds_in(text);
    if (!seconds) return fmt::format("'{}' is no time: write 5 or 5s, 500ms, 10m or 2h", text);
    text = fmt::format("{}", *seconds);
    return {};
  };
  return option_->transform(CLI::Validator(to_seconds, ""));
}

bool AddedOption::is_given() const { return option_->count() != 0; }

AddedOption add_flag(CLI::App& command, const std::string& names, bool& value, const std::string& help) {
  return command.add_flag(names, value, help);
}

AddedOption add_word(CLI::App& command, const std::string& name, std::string& value,
                     const std::string& help) {
  return command.add_option(name, value, help);
}

template <class Value>
AddedOption add_value(CLI::App& command, const std::string& usage, Value& value, const std::string& help) {
  return add_named(command, usage, value, help);
}

template AddedOption add_value(CLI::App&, const std::string&, std::string&, const std::string&);
template AddedOption add_value(CLI::App&, const std::string&, int&, const std::string&);
template AddedOption add_value(CLI::App&, const std::string&, unsigned&, const std::string&);
template AddedOption add_value(CLI::App&, const std::string&, std::size_t&, const std::string&);
template AddedOption add_value(CLI::App&, const std::string&, double&, const std::string&);
template AddedOption add_value(CLI::App&, const std::string&, std::optional<int>&, const std::string&);
template AddedOption add_value(CLI::App&, const std::string&, std::optional<std::size_t>&,
                               const std::string&);
template AddedOption add_value(CLI::App&, const std::string&, std::optional<double>&, const std::string&);

AddedOption add_values(CLI::App& command, const std::string& usage, std::vector<std::string>& values,
                       const std::string& help) {
  return add_named(command, usage, values, help)->allow_extra_args(false);
}

AddedOption add_list(CLI::App& command, const std::string& usage, std::vector<std::string>& values,
                     const std::string& help) {
  return add_named(command, usage, values, help)->allow_extra_args(false)->delimiter(',');
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::string usage_of(const CLI::App& command) {
  return static_cast<const HelpFormatter&>(*command.get_formatter()).usage();
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands_of(app)) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> names_of_options(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

void on_call(CLI::App& command, Invocation& invocation, std::function<int()> work) {
  command.callback([&invocation, work = std::move(work)] { invocation.work = work; });
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
