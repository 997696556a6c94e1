#include "look/heap/slow_progress.h"

#include <unistd.h>

#include "system/figures/clock.h"
#include "system/terminal/terminal.h"

namespace tarn::tool {
namespace {

constexpr double kSilentSeconds = 1, kSecondsBetween = 0.1;

}  // namespace

SlowProgress::SlowProgress() : started_(now()), shown_(started_) {}

void SlowProgress::show(const std::string& label) {
  const timespec time = now();
  if (seconds_between(started_, time) < kSilentSeconds) return;
  if (seconds_between(shown_, time) < kSecondsBetween || !is_terminal(STDERR_FILENO)) return;
  shown_ = time;
  if (!progress_) progress_.emplace(ProgressStyle::kLine);
  progress_->begin_run(label, std::optional<double>());
}

void SlowProgress::clear() {
  if (progress_) progress_->clear();
}

}  // namespace tarn::tool
