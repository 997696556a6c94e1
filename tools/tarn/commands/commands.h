// The sub-commands. Each adds its options to the parser, and a callback that leaves its work for when the
// whole command line is known to be right.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tarn::tool {

struct Invocation {
  std::vector<std::string> words;    // the whole command line, as it was typed
  std::vector<std::string> program;  // what stands behind `--`; empty: nothing does
  std::function<int()> work;         // of the chosen sub-command; gives the exit status
};

/// Adds one of the sub-commands.
using AddCommand = void(CLI::App& app, Invocation& invocation);
AddCommand add_run_command, add_compare_command, add_bench_command, add_classes_command, add_options_command,
    add_heap_command, add_leaks_command, add_map_command, add_doctor_command, add_top_command,
    add_metrics_command, add_ps_command, add_profile_command, add_guard_command, add_record_command,
    add_replay_command, add_tune_command, add_diff_command, add_completion_command, add_watch_command,
    add_manual_command;

/// Adds a sub-command with the tool's way of printing help.
CLI::App& add_command(CLI::App& app, const std::string& name, const std::string& description,
                      const std::string& usage, const std::string& examples);

/// An option that was added, for what is not the same of all. \why not CLI11's own: what its header costs to
/// compile is paid in commands.cc alone, not in each command
class AddedOption {
 public:
  AddedOption(CLI::Option* option) : option_(option) {}

  AddedOption excludes(AddedOption other) const;
  AddedOption needs(AddedOption other) const;
  AddedOption required() const;
  /// The help names no type of its value.
  AddedOption without_type() const;
  /// It may stand without a value; then it has this one.
  AddedOption value_may_be_left_out(const char* value) const;
  /// Its value may have a unit: of bytes, or K, M, G for thousands.
  AddedOption as_size() const;
  AddedOption as_count() const;
  /// Its value may have a unit of time: ms, s, m or h; without one it is seconds.
  AddedOption as_seconds() const;
  bool is_given() const;

 private:
  CLI::Option* option_;
};

/// Adds an option without a value.
AddedOption add_flag(CLI::App& command, const std::string& names, bool& value, const std::string& help);

/// Adds a word that stands alone.
AddedOption add_word(CLI::App& command, const std::string& name, std::string& value, const std::string& help);

/// Adds an option with a value. \param usage its names, and its value's name in the help: "-o,--output FILE".
/// Made in commands.cc for each type that a value has.
template <class Value>
AddedOption add_value(CLI::App& command, const std::string& usage, Value& value, const std::string& help);

/// Adds --top, which bounds the rows of a table; 0 is all. \param unless_given its default, for the help
template <class Rows>
AddedOption add_top(CLI::App& command, Rows& rows, const std::string& unless_given) {
  return add_value(command, "--top N", rows, "The most rows of a table; 0: all (" + unless_given + ")");
}

/// Adds an option that may be given several times, each time with one value.
AddedOption add_values(CLI::App& command, const std::string& usage, std::vector<std::string>& values,
                       const std::string& help);

/// The same; and several values may stand in one word, with commas between them.
AddedOption add_list(CLI::App& command, const std::string& usage, std::vector<std::string>& values,
                     const std::string& help);

/// In the order of the help.
std::vector<const CLI::App*> commands_of(const CLI::App& app);
/// How the command is written, as its help says.
std::string usage_of(const CLI::App& command);

/// Of the sub-commands, as they stand in the help; and of a command's options, with their dashes.
std::vector<std::string> names_of_commands(const CLI::App& app);
std::vector<std::string> names_of_options(const CLI::App& command);

/// What the command does when it is the one that is called.
void on_call(CLI::App& command, Invocation& invocation, std::function<int()> work);
template <class Options, class Work>
void on_call(CLI::App& command, Invocation& invocation, const std::shared_ptr<Options>& options, Work work) {
  on_call(command, invocation, [options, work] { return work(*options); });
}

// Of leaks and limits: as LeakSanitizer's.
inline constexpr int kFailedCheckStatus = 23;
// Exit statuses as shells, env, nice and nohup have them.
inline constexpr int kNotExecutableStatus = 126;
inline constexpr int kNotFoundStatus = 127;
inline constexpr int kSignalStatus = 128;  // and the number of the signal

/// The exit status of a command that measures: 128 and the signal that interrupted it, 1 if something failed.
int measuring_status(int interrupted_by, bool has_failure);

/// \throws UsageError for a value of an option that is not between the two
void require_range(const char* option, double value, double least, double most);

/// \throws UsageError if the command line names no program
void require_program(const Invocation& invocation, const std::string& command);

/// Dresses the tool itself: description, usage, commands, examples.
void set_front_page(CLI::App& app);

}  // namespace tarn::tool
