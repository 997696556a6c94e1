// Charts of a result file, drawn by a Python script that comes with the tool.
#pragma once
#include <string>

#include "system/signals.h"

namespace tarn::tool {

class Plotter {
 public:
  /// \throws UsageError if the file is to be neither .png nor .svg, or Python has no matplotlib
  explicit Plotter(std::string picture);

  /// Draws the results in a JSON file. \throws std::runtime_error with what the script says if it fails
  void draw(const std::string& result_file, SignalWatch& signals) const;

 private:
  std::string picture_;
  std::string script_;
  std::string python_;
};

}  // namespace tarn::tool
