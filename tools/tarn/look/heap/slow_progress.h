// Says on a terminal how far a command is that takes longer than a second; nothing where it does not, or
// where nobody watches.
#pragma once
#include <time.h>

#include <optional>
#include <string>

#include "system/terminal/progress.h"

namespace tarn::tool {

class SlowProgress {
 public:
  SlowProgress();
  /// \cost that of reading the clock, as long as nothing is shown
  void show(const std::string& label);
  void clear();

 private:
  timespec started_, shown_;
  std::optional<Progress> progress_;
};

}  // namespace tarn::tool
