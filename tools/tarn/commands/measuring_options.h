// The options that commands share which run programs on allocators to measure them.
#pragma once
#include <string>
#include <vector>

#include "commands/commands.h"
#include "commands/result_output.h"
#include "engine/contenders/allocators.h"
#include "engine/contenders/session.h"

namespace tarn::tool {

struct MeasuringOptions {
  Selection selection;
  std::vector<std::string> settings;  // KEY=VALUE, for tarn alone
  std::vector<std::string> variants;  // LABEL:KEY=VALUE,...
  int rounds = 5;
  double timeout_seconds = 600;
  ResultOutput output;
  bool is_quiet = false;

  /// Takes settings and variants into the selection. \throws UsageError for what is wrong, also a result file
  /// that could not be written
  void check();
  Telling telling() const { return is_quiet ? Telling::kQuiet : Telling::kProgress; }
};

/// Adds --with, --without, --set and --variant.
void add_selection_options(CLI::App& command, MeasuringOptions& options);
/// Adds --rounds, with the default of `options`, and --timeout.
void add_round_options(CLI::App& command, MeasuringOptions& options);
/// Adds -o, --json and --quiet. \param what_page_shows "a page of figures"
void add_result_options(CLI::App& command, MeasuringOptions& options, const std::string& what_page_shows);

}  // namespace tarn::tool
