#include "page/give_back/background.h"

#include "os/locks/held_locks.h"
#include "os/memory/memory.h"
#include "os/process/process.h"
#include "page/give_back/page_cache.h"
#include "page/memory/memory_limit.h"

namespace tarn::internal {
namespace {

constexpr std::uint32_t kNoticesPerClock = 64;
constexpr unsigned kIdleTicksToEnd = 4;

}  // namespace

constinit Background background;
constinit Helper helper{{Background::begin, Background::run, Background::was_left}};

void Background::notice() {
  os::check_no_lock_is_held("while memory is given back");
  if (page_cache.dirty_bytes() < kWorthATick && clock_.has_ticks()) return;
  if (const std::size_t above = memory_limit.above_soft_limit(); above != 0) [[unlikely]]
    page_cache.purge_unkept(above);
  if (!clock_.has_ticks() || !helper.ensure()) return give_back_by_callers();
  if (!page_cache.exceeds_limit() || has_excess_.load(std::memory_order_relaxed) != 0) return;
  if (has_excess_.exchange(1, std::memory_order_acq_rel) == 0) os::wake_helper();
}

void Background::apply_change() {
  if (!helper.may_start()) {
    const HelperPause ends_it;
  }
  os::wake_helper();  // it may sleep for the former decay time
  notice();
}

void Background::note_kept() {
  os::check_no_lock_is_held("while free memory is noted");
  if (!helper.ensure() && clock_.has_ticks()) tick_by_callers();
}

// A program that frees its heap and refills it in a loop needs the memory again within this time.
void Background::watch_excess() {
  page_cache.give_back_lasting_excess();  // starts the watch
  do {
    if (!sleep_unless_stopped(kExcessMs)) return;
    // The system may refuse for long, for locked memory as an example: then looking often is useless.
    if (!page_cache.give_back_lasting_excess() && !sleep_unless_stopped(clock_.period_ms() + 1)) return;
    if (is_tick_due()) tick();
    if (!page_cache.exceeds_limit()) has_excess_.store(0, std::memory_order_seq_cst);
    // Excess that arose since the last look was not announced.
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
  const TrimIdle trim_idle = trim_idle_.load(std::memory_order_acquire);
  all_heaps_were_idle_ = false;  // unless this tick comes to its end
  has_left_.exchange(false, std::memory_order_seq_cst);
  all_heaps_were_idle_ = trim_idle == nullptr || trim_idle();
  page_cache.tick();
}

// Nobody looks after the last call, so what is far too much goes back in this one.
void Background::give_back_by_callers() {
  if (page_cache.exceeds_limit()) {
    page_cache.give_back_at_once();
    if (excess_clock_.is_due(os::clock_ms())) page_cache.give_back_lasting_excess();
  }
  tick_by_callers();
}

// The first notices bring no tick: what was in use until now is not idle.
void Background::tick_by_callers() {
  const std::uint32_t notices = notices_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (notices % kNoticesPerClock != 0 || !is_tick_due()) return;
  // What a tick gives back comes here again.
  if (is_ticking_.exchange(true, std::memory_order_acquire)) return;
  tick();
  is_ticking_.store(false, std::memory_order_release);
}

bool Background::is_tick_due() { return clock_.is_due(os::clock_ms()); }

bool Background::has_nothing_to_do() const {
  return page_cache.dirty_bytes() < kWorthATick && all_heaps_were_idle_ &&
         !has_left_.load(std::memory_order_seq_cst);
}

void Background::look_until_idle() {
  for (unsigned idle_ticks = 0; idle_ticks < kIdleTicksToEnd || page_cache.dirty_bytes() >= kWorthATick;) {
    const std::uint32_t wakes = os::helper_wakes();
    if (os::helper_must_stop()) return;
    if (has_excess_.load(std::memory_order_acquire) == 0) os::helper_sleep(wakes, clock_.period_ms() + 1);
    if (os::helper_must_stop()) return;
    if (has_excess_.load(std::memory_order_acquire) != 0) watch_excess();
    // Where nothing is kept, each look is a tick: the tiers above give up theirs, and the helper ends.
    if (os::helper_must_stop() || (clock_.has_ticks() && !is_tick_due())) continue;
    tick();
    idle_ticks = has_nothing_to_do() ? idle_ticks + 1 : 0;
  }
}

// A store and a load here and in note_left(), in one total order: the helper sees memory that was left, or
// the thread that leaves it sees that the helper has ended.
bool Background::has_more_to_do() {
  has_ended_.store(true, std::memory_order_seq_cst);
  if (os::helper_must_stop() || !has_left_.load(std::memory_order_seq_cst)) return false;
  begin();
  return true;
}

bool Background::note_left() {
  has_left_.store(true, std::memory_order_seq_cst);
  return !has_ended_.load(std::memory_order_seq_cst);
}

void Background::begin() { background.has_ended_.store(false, std::memory_order_seq_cst); }

void Background::run() {
  do background.look_until_idle();
  while (background.has_more_to_do());
}

bool Background::was_left() {
  // In the child of a fork, the thread that ticked is gone.
  background.is_ticking_.store(false, std::memory_order_relaxed);
  background.has_excess_.store(0, std::memory_order_relaxed);
  background.has_ended_.store(true, std::memory_order_seq_cst);
  return !background.has_nothing_to_do();
}

}  // namespace tarn::internal
