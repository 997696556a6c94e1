// `tarn manual`: the manual pages of the command, its sub-commands and the library's options, written from
// the parser's own commands and from the table of options.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>

#include "commands/commands.h"
#include "commands/manual_text.h"
#include "commands/option_values.h"
#include "system/files/files.h"
#include "tarn/version.h"

namespace tarn::tool {
namespace {

/// Text in which nothing is a request of man(7), and each character is the one that is typed.
std::string escaped(std::string_view text) {
  constexpr std::pair<char, std::string_view> kEscapes[] = {{'\\', "\\e"},  {'-', "\\-"},   {'\'', "\\(aq"},
                                                            {'`', "\\(ga"}, {'^', "\\(ha"}, {'~', "\\(ti"}};
  std::string page;
  for (const char c : text) {
    const auto* const escape = std::find_if(std::begin(kEscapes), std::end(kEscapes),
                                            [c](const auto& one) { return one.first == c; });
    if (c == '.' && (page.empty() || page.back() == '\n')) page += "\\&";
    if (escape != std::end(kEscapes))
      page += escape->second;
    else
      page += c;
  }
  return page;
}

bool is_in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_'; }

/// Usage: option names in bold, what stands for a value in italics.
std::string emphasised(std::string_view usage) {
  std::string page;
  while (!usage.empty()) {
    const auto* const end = std::find_if_not(usage.begin(), usage.end(), is_in_word);
    const std::string_view word = usage.substr(0, std::max<std::size_t>(end - usage.begin(), 1));
    const bool is_value = std::isupper(static_cast<unsigned char>(word.front())) &&
                          std::none_of(word.begin(), word.end(), [](char c) { return std::islower(c); });
    const char* const font = word.front() == '-' ? "B" : is_value ? "I" : nullptr;
    page += font == nullptr ? escaped(word) : fmt::format("\\f{}{}\\fR", font, escaped(word));
    usage.remove_prefix(word.size());
  }
  return page;
}

/// Each sentence begins a line, as man(7) wants it.
std::string sentences(std::string_view text) {
  std::string page;
  for (const char c : escaped(text)) {
    const bool is_between = (c == ' ' || c == '\n') && page.ends_with('.') && !page.ends_with("..");
    page += is_between ? '\n' : c;
  }
  return page + "\n";
}

std::string head(const std::string& name, int section, std::string_view description) {
  std::string title = name;
  std::transform(title.begin(), title.end(), title.begin(), [](unsigned char c) { return std::toupper(c); });
  return fmt::format(
      ".\\\" Written by `tarn manual`.\n.TH {} {} \"\" \"tarn {}\" \"tarn\"\n.nh\n.ad l\n.SH NAME\n{} \\- "
      "{}\n",
      escaped(title), section, TARN_VERSION_STRING, escaped(name), escaped(description));
}

/// "Run a program." as NAME has it: "run a program".
std::string as_name(std::string description) {
  if (description.ends_with('.')) description.pop_back();
  description.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(description.front())));
  return description;
}

std::string synopsis(const CLI::App& command) {
  return fmt::format(".SH SYNOPSIS\n{}\n", emphasised(usage_of(command)));
}

/// What stands below the options in the help: its paragraphs, by the sections they belong to.
struct Footer {
  std::string description;
  std::string examples;
  std::string exit_status;
};

Footer sections_of(std::string_view footer) {
  constexpr std::string_view kExamples = "Examples:\n", kExitStatus = "Exit status: ";
  Footer sections;
  while (!footer.empty()) {
    const std::string_view paragraph = footer.substr(0, footer.find("\n\n"));
    footer.remove_prefix(std::min(footer.size(), paragraph.size() + 2));
    if (paragraph.starts_with(kExamples))
      sections.examples =
          fmt::format(".SH EXAMPLES\n.nf\n{}\n.fi\n", escaped(paragraph.substr(kExamples.size())));
    else if (paragraph.starts_with(kExitStatus))
      sections.exit_status = ".SH EXIT STATUS\n" + sentences(paragraph.substr(kExitStatus.size()));
    else
      sections.description += ".PP\n" + sentences(paragraph);
  }
  return sections;
}

std::string entry(const std::string& term, std::string_view text) {
  return fmt::format(".TP\n{}\n{}", term, sentences(text));
}

std::string term_of(const CLI::Option& option) {
  if (option.get_positional() && !option.nonpositional()) return emphasised(option.get_name());
  std::string term;
  for (const std::string& name : option.get_snames()) term += ", -" + name;
  for (const std::string& name : option.get_lnames()) term += ", --" + name;
  if (!option.get_type_name().empty()) term += " " + option.get_type_name();
  return emphasised(term.substr(2));
}

std::string options_of(const CLI::App& command) {
  std::string page = ".SH OPTIONS\n";
  for (const CLI::Option* option : command.get_options())
    if (option != command.get_help_ptr()) page += entry(term_of(*option), option->get_description());
  return page;
}

std::string page_of(const CLI::App& command) {
  const Footer footer = sections_of(command.get_footer());
  return head("tarn-" + command.get_name(), 1, as_name(command.get_description())) + synopsis(command) +
         ".SH DESCRIPTION\n" + sentences(command.get_description()) + footer.description +
         options_of(command) + footer.exit_status + footer.examples +
         ".SH SEE ALSO\n.BR tarn (1),\n.BR tarn.conf (5)\n";
}

std::string front_page(const CLI::App& app) {
  const Footer footer = sections_of(app.get_footer());
  std::string commands = ".SH COMMANDS\n";
  for (const CLI::App* command : commands_of(app))
    commands += entry(fmt::format(".BR tarn\\-{} (1)", command->get_name()), command->get_description());
  return head("tarn", 1,
              "run programs on a memory pool, compare allocators, and look into running programs") +
         synopsis(app) + ".SH DESCRIPTION\n.B tarn\n" + kFrontPageDescription + footer.description +
         commands + options_of(app) + footer.examples + kFrontPageEnd;
}

std::string options_page() {
  std::string page = head("tarn.conf", 5, "options of the memory pool tarn") + ".SH DESCRIPTION\n" +
                     sentences(kHowOptionsAreSet) + kOptionsPageFile + ".SH OPTIONS\n";
  for (const internal::OptionInfo& option : internal::kOptionTable)
    page += entry(
        fmt::format("\\fB{}\\fR, \\fB{}\\fR", option.key, internal::environment_name(option).text),
        fmt::format(
            "{} Takes {}; default {}.{}", option.help, format_accepted_values(option),
            format_option_value(option, option.default_value),
            option.change == internal::OptionChange::kAnyTime ? " May change while the program runs." : ""));
  return page + kOptionsPageEnd;
}

int write_pages(const CLI::App& app, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder / "man1");
  std::filesystem::create_directories(folder / "man5");
  write_file(folder / "man1" / "tarn.1", front_page(app));
  for (const CLI::App* command : commands_of(app))
    write_file(folder / "man1" / fmt::format("tarn-{}.1", command->get_name()), page_of(*command));
  write_file(folder / "man5" / "tarn.conf.5", options_page());
  return 0;
}

}  // namespace

void add_manual_command(CLI::App& app, Invocation& invocation) {
  CLI::App& command =
      add_command(app, "manual", "Write the manual pages of the commands and of tarn.conf.",
                  "tarn manual FOLDER", "  tarn manual ~/.local/share/man      then: man tarn-run\n");
  auto folder = std::make_shared<std::string>();
  add_word(command, "FOLDER", *folder, "Gets the folders man1 and man5").required();
  on_call(command, invocation, [&app, folder] { return write_pages(app, *folder); });
}

}  // namespace tarn::tool
