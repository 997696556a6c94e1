// What is compared: a program, or a server under a load; what one run of it gave, and the figures.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "engine/rounds/entry.h"
#include "engine/rounds/load_metric.h"
#include "system/servers/server_run.h"

namespace tarn::tool {

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
