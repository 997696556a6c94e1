#include "thread/background.h"

#include "os/mutex.h"
#include "os/process.h"
#include "page/page_cache.h"
#include "thread/registry.h"

namespace tarn::internal {
namespace {

constexpr std::size_t kWorthATick = 256 * 1024;  // bytes of free memory
constexpr std::uint32_t kNoticesPerClock = 64;
constexpr unsigned kIdleTicksToEnd = 4;
constexpr std::uint64_t kExcessMs = 50;
constexpr std::uint32_t kMostFailedStarts = 16;  // then the system will not let it be

constinit std::atomic<std::uint32_t> never_changes{0};

}  // namespace

constinit Background background;

bool Background::ensure_helper() {
  if (is_running()) return true;
  if (!may_start_.load(std::memory_order_relaxed)) return false;
  if (is_running_.exchange(1, std::memory_order_acq_rel) != 0) return true;
  const os::HelperStart start = os::start_helper(&Background::run);
  if (start == os::HelperStart::kStarted) return true;
  is_running_.store(0, std::memory_order_release);
  if (start == os::HelperStart::kRefused && failed_starts_.fetch_add(1) == kMostFailedStarts) may_start_.store(false);
  return false;
}

void Background::notice() {
  if (page_cache.dirty_bytes() < kWorthATick && decay_ms_ != 0) return;
  if (decay_ms_ == 0 || !ensure_helper()) {
    if (page_cache.exceeds_limit()) page_cache.give_back_excess();
    return tick_by_callers();
  }
  if (!page_cache.exceeds_limit() || has_excess_.load(std::memory_order_relaxed) != 0) return;
  if (has_excess_.exchange(1, std::memory_order_acq_rel) == 0) os::wake_all(has_excess_);
}

// A program that frees its heap and fills it again needs the memory within this time, or does not miss it.
void Background::watch_excess() {
  page_cache.give_back_lasting_excess();  // starts the watch
  do {
    os::wait_on(never_changes, 0, kExcessMs);
    // Locked memory, for one, cannot be given back: then there is no point in looking often.
    if (!page_cache.give_back_lasting_excess()) os::wait_on(never_changes, 0, decay_ms_ / 2 + 1);
    if (is_tick_due()) tick();
  } while (page_cache.exceeds_limit());
  has_excess_.store(0, std::memory_order_seq_cst);
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
  for (unsigned idle_ticks = 0;;) {
    os::wait_on(self.has_excess_, 0, self.decay_ms_ / 2 + 1);
    if (self.has_excess_.load(std::memory_order_acquire) != 0) self.watch_excess();
    if (!self.is_tick_due()) continue;
    self.tick();
    const bool has_nothing_to_do = page_cache.dirty_bytes() < kWorthATick && self.all_heaps_were_idle_;
    idle_ticks = has_nothing_to_do ? idle_ticks + 1 : 0;
    if (idle_ticks < kIdleTicksToEnd) continue;
    self.is_running_.store(0, std::memory_order_seq_cst);
    // Memory may have come back between the look and the store.
    if (page_cache.dirty_bytes() < kWorthATick || self.is_running_.exchange(1) != 0) return;
    idle_ticks = 0;
  }
}

void Background::forget_after_fork() {
  os::forget_helper_after_fork();
  is_running_.store(0, std::memory_order_relaxed);
  has_excess_.store(0, std::memory_order_relaxed);
}

}  // namespace tarn::internal
