// What is compared: a program, or a server under a load; what one run of it gave, and the figures.
#pragma once
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "engine/rounds/entry.h"
#include "system/figures/measurement.h"
#include "system/servers/server_run.h"

namespace tarn::tool {

struct LoadValue {
  double value;       // in seconds if it is a time, in bytes if it is memory
  Quantity quantity;  // as the figure's unit says; without one kCount
};

/// A figure that a load prints, found in its output by a regular expression: `p99=99% +([0-9.]+)`.
struct LoadMetric {
  std::string name;
  std::regex pattern;
  bool is_more_better = false;  // NAME began with +

  /// The value of the last line that the pattern is found in; nothing if there is none. A carriage return
  /// ends a line too, as programs tell progress by it. The first group is a number; its unit (us, µs, ms, s,
  /// KiB, MiB, GiB, k, M) is in the group, or stands right behind it.
  std::optional<LoadValue> value_in(std::string_view output) const;
};

/// Reads NAME=REGEX, or +NAME=REGEX for a figure of which more is better. \throws UsageError
LoadMetric parse_load_metric(const std::string& text);

/// What drives a server.
struct Load {
  std::vector<std::string> command;
  Readiness readiness;
  double idle_seconds = 1;  // in which the server is left alone before it is stopped
};

/// What runs a command line that has quotes, pipes and variables.
inline std::vector<std::string> shell_command(const std::string& line) { return {"sh", "-c", line}; }

/// A figure that the program, or the load, prints.
struct PrintedFigure {
  LoadMetric metric;
  Quantity quantity = Quantity::kCount;  // as the first run had it
};

struct Workload {
  std::string name;  // of several; empty: it stands alone
  std::vector<std::string> command;
  std::string directory = {};  // it is started in; empty: the tool's
  std::string stdin_path = "/dev/null";
  int expected_status = 0;
  bool is_output_compared = true;
  bool is_small = false;  // its costs are those of starting it
  int rounds = 5;
  std::optional<Load> load = {};  // it is a server
  std::vector<PrintedFigure> figures = {};
  std::vector<std::string> left_out = {};  // keys of figures that say nothing of it
};

struct ProgramRun {
  Measurement cost;  // of a server: under its load
  std::vector<double> printed = {};
  std::vector<MemorySample> memory = {};  // of a server: since its load began

  double mean_rss_bytes() const;
  double last_rss_bytes() const;
};

/// The figures that all runs of the workload have.
std::vector<Metric<ProgramRun>> metrics_of(const Workload& workload);

}  // namespace tarn::tool
