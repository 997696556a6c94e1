// Tells whoever waits for a series of runs how far it is: one line that is rewritten on a terminal, a line
// now and then elsewhere (a log), nothing where the whole is over in a few seconds. Or only on a terminal,
// where a command takes longer than a second.
#pragma once
#include <time.h>

#include <cstdint>
#include <optional>
#include <string>

namespace tarn::tool {

enum class ProgressStyle : std::uint8_t { kNone, kLine, kLog, kLateLine };

/// The style that suits a stream.
ProgressStyle progress_style_for(int descriptor);

class Progress {
 public:
  explicit Progress(ProgressStyle style);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// A run begins; `seconds_left` counts it, and is empty while nothing is known. \cost of a late line that
  /// of reading the clock, as long as nothing is shown
  void begin_run(const std::string& label, std::optional<double> seconds_left = std::nullopt);
  /// Called now and then while a run lasts.
  void tick();
  /// Takes the line off the terminal.
  void clear();

 private:
  std::string message() const;
  bool is_due() const;
  void show();

  ProgressStyle style_;
  timespec started_;
  timespec run_started_ = {}, shown_ = {};
  double next_log_seconds_;
  std::optional<double> seconds_left_;  // when the run began
  std::string label_;
  bool has_line_ = false;
};

}  // namespace tarn::tool
