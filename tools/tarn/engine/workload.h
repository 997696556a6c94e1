// A program that is compared, what one run of it gave, and the figures that are compared.
#pragma once
#include <string>
#include <vector>

#include "engine/entry.h"

namespace tarn::tool {

struct Workload {
  std::string name;  // of several; empty: it stands alone
  std::vector<std::string> command;
  std::string directory = {};  // it is started in; empty: the tool's
  std::string stdin_path = "/dev/null";
  int expected_status = 0;
  bool is_output_compared = true;
  bool is_small = false;  // its costs are those of starting it
  int rounds = 5;
};

struct ProgramRun {
  Measurement cost;
};

/// The figures that all runs of the workload have.
std::vector<Metric<ProgramRun>> metrics_of(const Workload& workload);

}  // namespace tarn::tool
