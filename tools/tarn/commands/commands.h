// The sub-commands. Each adds its options to the parser, and a callback that leaves its work for when the
// whole command line is known to be right.
#pragma once
#include <CLI/App.hpp>
#include <CLI/Config.hpp>  // defines what App.hpp only declares
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tarn::tool {

struct Invocation {
  std::vector<std::string> words;    // the whole command line, as it was typed
  std::vector<std::string> program;  // what stands behind `--`; empty: nothing does
  std::function<int()> work;         // of the chosen sub-command; gives the exit status
};

void add_run_command(CLI::App& app, Invocation& invocation);
void add_compare_command(CLI::App& app, Invocation& invocation);
void add_bench_command(CLI::App& app, Invocation& invocation);
void add_classes_command(CLI::App& app, Invocation& invocation);
void add_options_command(CLI::App& app, Invocation& invocation);
void add_heap_command(CLI::App& app, Invocation& invocation);
void add_leaks_command(CLI::App& app, Invocation& invocation);
void add_map_command(CLI::App& app, Invocation& invocation);
void add_doctor_command(CLI::App& app, Invocation& invocation);
void add_top_command(CLI::App& app, Invocation& invocation);
void add_metrics_command(CLI::App& app, Invocation& invocation);
void add_ps_command(CLI::App& app, Invocation& invocation);
void add_profile_command(CLI::App& app, Invocation& invocation);
void add_record_command(CLI::App& app, Invocation& invocation);
void add_replay_command(CLI::App& app, Invocation& invocation);
void add_tune_command(CLI::App& app, Invocation& invocation);

/// Adds a sub-command with the tool's way of printing help.
CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& description,
                      const std::string& usage, const std::string& examples);

/// Adds an option with a value. \param usage its names, and its value's name in the help: "-o,--output FILE"
template <class Value>
CLI::Option* add_value(CLI::App& command, const std::string& usage, Value& value, const std::string& help) {
  const std::size_t blank = usage.find(' ');
  return command.add_option(usage.substr(0, blank), value, help)->type_name(usage.substr(blank + 1));
}

/// Adds an option that may be given several times, each time with one value.
template <class Value>
CLI::Option* add_values(CLI::App& command, const std::string& usage, std::vector<Value>& values,
                        const std::string& help) {
  return add_value(command, usage, values, help)->allow_extra_args(false);
}

/// The same; and several values may stand in one word, with commas between them.
template <class Value>
CLI::Option* add_list(CLI::App& command, const std::string& usage, std::vector<Value>& values,
                      const std::string& help) {
  return add_values(command, usage, values, help)->delimiter(',');
}

/// What the command does with its options when it is the one that is called.
template <class Options, class Work>
void on_call(CLI::App& command, Invocation& invocation, const std::shared_ptr<Options>& options, Work work) {
  command.callback(
      [&invocation, options, work] { invocation.work = [options, work] { return work(*options); }; });
}

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
