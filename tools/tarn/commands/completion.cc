// `tarn completion`: what shells complete, written from the parser's own commands and options.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <memory>

#include "commands/commands.h"
#include "system/files/usage_error.h"

namespace tarn::tool {
namespace {

constexpr const char* kCompletionExamples =
    "  source <(tarn completion bash)\n"
    "  tarn completion zsh > ~/.zfunc/_tarn         in a folder of $fpath\n"
    "  tarn completion fish > ~/.config/fish/completions/tarn.fish\n";

/// The cases of a shell's `case`, one for each command.
std::string cases(const CLI::App& app, const char* form) {
  std::string text;
  for (const CLI::App* command : commands_of(app))
    text += fmt::format(fmt::runtime(form), command->get_name(), fmt::join(names_of_options(*command), " "));
  return text;
}

std::string for_bash(const CLI::App& app) {
  return fmt::format(
      "_tarn() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} names= i\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do [[ ${{COMP_WORDS[i]}} == -- ]] && return; done\n"
      "  if ((COMP_CWORD == 1)) || [[ ${{COMP_WORDS[1]}} == help ]]; then\n"
      "    names='help {}'\n"
      "  else\n"
      "    case ${{COMP_WORDS[1]}} in\n"
      "{}"
      "    esac\n"
      "    [[ $word == -* ]] || return\n"
      "  fi\n"
      "  COMPREPLY=($(compgen -W \"$names\" -- \"$word\"))\n"
      "}}\n"
      "complete -o default -F _tarn tarn\n",
      fmt::join(names_of_commands(app), " "), cases(app, "      {}) names='{}' ;;\n"));
}

std::string for_zsh(const CLI::App& app) {
  return fmt::format(
      "#compdef tarn\n"
      "if ((CURRENT == 2)) || [[ $words[2] == help ]]; then\n"
      "  compadd -- help {}\n"
      "elif [[ $PREFIX != -* ]] || ((${{words[(I)--]}})); then\n"
      "  _files\n"
      "else\n"
      "  case $words[2] in\n"
      "{}"
      "  esac\n"
      "fi\n",
      fmt::join(names_of_commands(app), " "), cases(app, "    {}) compadd -- {} ;;\n"));
}

/// In single quotes, as fish takes them.
std::string quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return quoted + "'";
}

std::string for_fish(const CLI::App& app) {
  std::string text = "complete -c tarn -n __fish_use_subcommand -f -a help -d 'Tell more of a command'\n";
  for (const CLI::App* command : commands_of(app)) {
    text += fmt::format("complete -c tarn -n __fish_use_subcommand -f -a {} -d {}\n", command->get_name(),
                        quoted(command->get_description()));
    for (const CLI::Option* option : command->get_options()) {
      std::string names;
      for (const std::string& name : option->get_lnames()) names += " -l " + name;
      for (const std::string& name : option->get_snames()) names += " -s " + name;
      if (names.empty()) continue;
      text +=
          fmt::format("complete -c tarn -n '__fish_seen_subcommand_from {}'{}{} -d {}\n", command->get_name(),
                      names, option->get_expected_max() == 0 ? "" : " -r", quoted(option->get_description()));
    }
  }
  return text;
}

}  // namespace

void add_completion_command(CLI::App& app, Invocation& invocation) {
  CLI::App& command = add_command(app, "completion", "Print what a shell completes: bash, zsh or fish.",
                                  "tarn completion bash|zsh|fish", kCompletionExamples);
  auto shell = std::make_shared<std::string>();
  add_word(command, "SHELL", *shell, "bash, zsh or fish").required();
  on_call(command, invocation, [&app, shell] {
    if (*shell != "bash" && *shell != "zsh" && *shell != "fish")
      throw UsageError(fmt::format("there is no completion for '{}': bash, zsh and fish have one", *shell));
    fmt::print("{}", *shell == "bash" ? for_bash(app) : *shell == "zsh" ? for_zsh(app) : for_fish(app));
    return 0;
  });
}

}  // namespace tarn::tool
