// Progress on standard error.
#include "system/terminal/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "system/figures/clock.h"
#include "system/figures/format.h"
#include "system/terminal/terminal.h"

namespace tarn::tool {
namespace {

constexpr double kFirstLogSeconds = 5;
constexpr double kLogIntervalSeconds = 15;

double seconds_since(const timespec& start) { return seconds_between(start, now()); }

}  // namespace

ProgressStyle progress_style_for(int descriptor) {
  return is_terminal(descriptor) ? ProgressStyle::kLine : ProgressStyle::kLog;
}

Progress::Progress(ProgressStyle style)
    : style_(style), started_(now()), next_log_seconds_(kFirstLogSeconds) {}

void Progress::begin_run(const std::string& label, std::optional<double> seconds_left) {
  label_ = label;
  seconds_left_ = seconds_left;
  run_started_ = now();
  show();
}

void Progress::tick() { show(); }

std::string Progress::message() const {
  if (!seconds_left_) return label_;
  const double left = std::max(*seconds_left_ - seconds_since(run_started_), 0.0);
  return fmt::format("{}, about {} left", label_, format_seconds_left(left));
}

void Progress::show() {
  if (style_ == ProgressStyle::kLine) {
    fmt::print(stderr, "\r\033[K{}", message());
    std::fflush(stderr);
    has_line_ = true;
  } else if (style_ == ProgressStyle::kLog && seconds_since(started_) >= next_log_seconds_) {
    fmt::print(stderr, "{}\n", message());
    next_log_seconds_ = seconds_since(started_) + kLogIntervalSeconds;
  }
}

void Progress::clear() {
  if (!has_line_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  has_line_ = false;
}

}  // namespace tarn::tool
