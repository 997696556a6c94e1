// Progress on standard error.
#include "system/terminal/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "system/figures/clock.h"
#include "system/figures/format.h"
#include "system/terminal/terminal.h"

namespace tarn::tool {
namespace {

constexpr double kFirstLogSeconds = 5;
constexpr double kLogIntervalSeconds = 15;
constexpr double kSecondsBeforeLateLine = 1, kSecondsBetweenLateLines = 0.1;

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

bool Progress::is_due() const {
  switch (style_) {
    case ProgressStyle::kLine:
      return true;
    case ProgressStyle::kLog:
      return seconds_since(started_) >= next_log_seconds_;
    case ProgressStyle::kLateLine:
      return seconds_since(started_) >= kSecondsBeforeLateLine &&
             seconds_since(shown_) >= kSecondsBetweenLateLines && is_terminal(STDERR_FILENO);
    case ProgressStyle::kNone:
      break;
  }
  return false;
}

void Progress::show() {
  if (!is_due()) return;
  if (style_ == ProgressStyle::kLog) {
    fmt::print(stderr, "{}\n", message());
    next_log_seconds_ = seconds_since(started_) + kLogIntervalSeconds;
    return;
  }
  fmt::print(stderr, "\r\033[K{}", message());
  std::fflush(stderr);
  has_line_ = true;
  shown_ = now();
}

void Progress::clear() {
  if (!has_line_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  has_line_ = false;
}

}  // namespace tarn::tool
