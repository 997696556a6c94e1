#include "thread/background.h"

#include "os/lock_rank.h"
#include "os/memory.h"
#include "os/process.h"
#include "page/page_cache.h"
#include "thread/registry.h"

namespace tarn::internal {
namespace {

constexpr std::uint32_t kNoticesPerClock = 64;
constexpr unsigned kIdleTicksToEnd = 4;
constexpr std::uint64_t kExcessMs = 50;
constexpr std::uint32_t kMostFailedStarts = 16;  // then the system will not let it be
// Of a millisecond, for another thread that starts or ends the helper.
constexpr unsigned kMostWaits = 100;

}  // namespace

constinit Background background;

bool Background::ensure_helper() {
  if (is_running()) return true;
  if (!may_start_.load(std::memory_order_relaxed)) return false;
  is_wanted_.store(true, std::memory_order_relaxed);
  start_wanted();
  return is_running();
}

void Background::start_wanted() {
  if (!may_start_.load(std::memory_order_relaxed)) return is_wanted_.store(false, std::memory_order_relaxed);
  if (pauses_.load(std::memory_order_relaxed) != 0) return;
  if (os::clock_ms() < not_before_ms_.load(std::memory_order_relaxed)) return;
  const os::SignalBlock no_signals;  // a handler that forks would wait for the flag of its own thread
  if (starting_.exchange(1, std::memory_order_seq_cst) != 0) return;
  // step_aside counts first and then looks at this flag, so one of the two sees the other.
  if (!is_running() && start_helper() == os::HelperStart::kRefused &&
      failed_starts_.fetch_add(1, std::memory_order_relaxed) == kMostFailedStarts)
    may_start_.store(false, std::memory_order_relaxed);
  starting_.store(0, std::memory_order_release);
}

os::HelperStart Background::start_helper() {
  if (!os::may_have_helper()) return os::HelperStart::kRefused;
  if (!can_step_aside_.load(std::memory_order_relaxed) && os::has_privileges())
    return os::HelperStart::kRefused;
  os::find_out_about_purge();
  if (pauses_.load(std::memory_order_seq_cst) != 0) return os::HelperStart::kNotNow;
  is_wanted_.store(false, std::memory_order_relaxed);
  return os::start_helper(&Background::run);
}

void Background::step_aside() {
  pauses_.fetch_add(1, std::memory_order_seq_cst);
  if (starting_.load(std::memory_order_seq_cst) == 0 && !is_running()) return;
  const os::SignalBlock no_signals;
  // A child of a bare clone may have the flag of a thread that is not there: it does not wait for ever.
  bool has_flag = false;
  for (unsigned i = 0; !has_flag && i < kMostWaits; ++i) {
    has_flag = starting_.exchange(1, std::memory_order_acquire) == 0;
    if (!has_flag) os::wait_on(starting_, 1, 1);
  }
  const os::HelperEnd end = os::stop_helper();
  if (end != os::HelperEnd::kWasNone) {
    has_excess_.store(0, std::memory_order_relaxed);
    is_wanted_.store(has_work(), std::memory_order_relaxed);
  }
  // Of its locks it holds this one while it asks the kernel for what a filter may kill it for.
  if (end == os::HelperEnd::kWasKilled) page_cache.forget_who_gives_back();
  if (has_flag) starting_.store(0, std::memory_order_release);
}

void Background::forbid_helper() {
  may_start_.store(false, std::memory_order_relaxed);
  is_wanted_.store(false, std::memory_order_relaxed);
  os::make_common_calls_only();
}

bool Background::has_work() const { return page_cache.dirty_bytes() >= kWorthATick || !all_heaps_were_idle_; }

void Background::return_later(std::uint64_t after_ms) {
  if (is_wanted_.load(std::memory_order_relaxed))
    not_before_ms_.store(os::clock_ms() + after_ms, std::memory_order_relaxed);
  pauses_.fetch_sub(1, std::memory_order_seq_cst);
}

void Background::return_now() {
  pauses_.fetch_sub(1, std::memory_order_seq_cst);
  if (!is_wanted_.load(std::memory_order_relaxed)) return;
  start_wanted();
  not_before_ms_.store(os::clock_ms() + kPauseMs, std::memory_order_relaxed);
}

void Background::notice() {
  if (page_cache.dirty_bytes() < kWorthATick && decay_ms_ != 0) return;
  if (decay_ms_ == 0 || !ensure_helper()) {
    if (page_cache.exceeds_limit()) page_cache.give_back_excess();
    return tick_by_callers();
  }
  if (!page_cache.exceeds_limit() || has_excess_.load(std::memory_order_relaxed) != 0) return;
  if (has_excess_.exchange(1, std::memory_order_acq_rel) == 0) os::wake_helper();
}

// A program that frees its heap and fills it again needs the memory within this time, or does not miss it.
void Background::watch_excess() {
  page_cache.give_back_lasting_excess();  // starts the watch
  do {
    if (!sleep_unless_stopped(kExcessMs)) return;
    // Locked memory, for one, cannot be given back: then there is no point in looking often.
    if (!page_cache.give_back_lasting_excess() && !sleep_unless_stopped(decay_ms_ / 2 + 1)) return;
    if (is_tick_due()) tick();
    if (!page_cache.exceeds_limit()) has_excess_.store(0, std::memory_order_seq_cst);
    // What has come since then was not announced.
  } while (page_cache.exceeds_limit());
  has_excess_.store(0, std::memory_order_seq_cst);
}

// \returns false when the helper is to end.
bool Background::sleep_unless_stopped(std::uint64_t time_ms) {
  const std::uint32_t wakes = os::helper_wakes();
  if (os::helper_must_stop()) return false;
  os::helper_sleep(wakes, time_ms);
  return !os::helper_must_stop();
}

void Background::tick() {
  all_heaps_were_idle_ = registry.trim_idle_heaps();
  page_cache.tick();
}

void Background::tick_by_callers() {
  if (notices_.fetch_add(1, std::memory_order_relaxed) % kNoticesPerClock != 0) return;
  if (decay_ms_ != 0 && is_tick_due()) tick();
}

// Once per half decay time, for one of those who ask.
bool Background::is_tick_due() {
  const std::uint64_t now = os::clock_ms();
  std::uint64_t last = last_tick_ms_.load(std::memory_order_relaxed);
  return now - last >= decay_ms_ / 2 && last_tick_ms_.compare_exchange_strong(last, now);
}

void Background::run() {
  Background& self = background;
  for (unsigned idle_ticks = 0; idle_ticks < kIdleTicksToEnd || page_cache.dirty_bytes() >= kWorthATick;) {
    const std::uint32_t wakes = os::helper_wakes();
    if (os::helper_must_stop()) return;
    if (self.has_excess_.load(std::memory_order_acquire) == 0)
      os::helper_sleep(wakes, self.decay_ms_ / 2 + 1);
    if (os::helper_must_stop()) return;
    if (self.has_excess_.load(std::memory_order_acquire) != 0) self.watch_excess();
    if (os::helper_must_stop() || !self.is_tick_due()) continue;
    self.tick();
    const bool has_nothing_to_do = page_cache.dirty_bytes() < kWorthATick && self.all_heaps_were_idle_;
    idle_ticks = has_nothing_to_do ? idle_ticks + 1 : 0;
  }
}

void Background::forget_after_fork(OtherThreads other_threads) {
  os::forget_helper_after_fork();
  // One pause is this fork's; the others are of threads that are gone, or of a fork in whose handlers this
  // one was.
  if (other_threads == OtherThreads::kGone) {
    pauses_.store(0, std::memory_order_relaxed);
  } else {
    pauses_.fetch_sub(1, std::memory_order_relaxed);
  }
  starting_.store(0, std::memory_order_relaxed);
  not_before_ms_.store(0, std::memory_order_relaxed);
  has_excess_.store(0, std::memory_order_relaxed);
}

}  // namespace tarn::internal
