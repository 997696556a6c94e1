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

constinit std::atomic<std::uint32_t> never_changes{0};

}  // namespace

constinit Background background;

void Background::notice() {
  if (is_running() || decay_ms_ == 0 || page_cache.dirty_bytes() < kWorthATick) return;
  if (!may_start_) return tick_by_callers();
  if (is_running_.exchange(1, std::memory_order_acq_rel) != 0) return;
  if (os::start_helper(&Background::run)) return;
  is_running_.store(0, std::memory_order_release);
  tick_by_callers();
}

void Background::tick() {
  registry.trim_idle_heaps();
  page_cache.tick();
}

void Background::tick_by_callers() {
  if (notices_.fetch_add(1, std::memory_order_relaxed) % kNoticesPerClock != 0) return;
  const std::uint64_t now = os::clock_ms();
  std::uint64_t last = last_tick_ms_.load(std::memory_order_relaxed);
  if (now - last < decay_ms_ / 2 || !last_tick_ms_.compare_exchange_strong(last, now)) return;
  if (last != 0) tick();
}

void Background::run() {
  unsigned idle_ticks = 0;
  for (;;) {
    os::wait_on(never_changes, 0, background.decay_ms_ / 2 + 1);
    background.tick();
    idle_ticks = page_cache.dirty_bytes() < kWorthATick ? idle_ticks + 1 : 0;
    if (idle_ticks < kIdleTicksToEnd) continue;
    background.is_running_.store(0, std::memory_order_seq_cst);
    // Memory may have come back between the look and the store.
    if (page_cache.dirty_bytes() < kWorthATick || background.is_running_.exchange(1) != 0) return;
  }
}

void Background::forget_after_fork() {
  os::forget_helper_after_fork();
  is_running_.store(0, std::memory_order_relaxed);
}

}  // namespace tarn::internal
