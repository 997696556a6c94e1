#include "page/give_back/background.h"

#include "os/locks/held_locks.h"
#include "os/locks/mutex.h"
#include "os/process/library_thread.h"
#include "os/process/process.h"
#include "page/give_back/page_cache.h"
#include "page/memory/memory_limit.h"

namespace tarn::internal {
namespace {

constexpr std::size_t kMostAtOnce = 512 * 1024;  // bytes that a step gives back, some 20 us
constexpr unsigned kIdleTicksToRest = 4;
constexpr std::uint64_t kRestMs = 2000;          // then the thread looks whether the process has others left
constexpr std::uint32_t kMostFailedStarts = 16;  // after these, the system will never allow a thread

}  // namespace

constinit Background background;

void Background::configure(bool may_have_thread, std::uint32_t decay_ms) {
  process_.store(os::process_id(), std::memory_order_relaxed);
  may_have_thread_.store(may_have_thread, std::memory_order_relaxed);
  clock_.set_decay(decay_ms);
}

void Background::notice(std::size_t bytes) {
  os::check_no_lock_is_held("while memory is given back");
  if (page_cache.dirty_bytes() < kWorthATick && clock_.has_ticks()) return;
  if (const std::size_t above = memory_limit.above_soft_limit(); above != 0) [[unlikely]]
    page_cache.purge_unkept(above);
  if (!clock_.has_ticks()) return give_back_by_callers(SIZE_MAX);
  // Who frees much pays for it; else what is too much goes back in as many calls as brought it.
  if (!ensure_thread()) return give_back_by_callers(2 * bytes < kMostAtOnce ? kMostAtOnce : 2 * bytes);
  const bool is_new = page_cache.exceeds_limit() && has_excess_.exchange(1, std::memory_order_acq_rel) == 0;
  if (is_new || is_resting_.load(std::memory_order_seq_cst)) wake();
}

void Background::note_kept() {
  os::check_no_lock_is_held("while free memory is noted");
  if (!clock_.has_ticks()) return;
  if (!ensure_thread()) return step();
  if (is_resting_.load(std::memory_order_seq_cst)) wake();
}

void Background::apply_change() {
  wake();  // the thread may sleep for the former decay time
  notice(page_cache.dirty_bytes());
}

// Nobody looks after the last call, so what is far too much goes back in this one.
void Background::give_back_by_callers(std::size_t most) {
  if (page_cache.exceeds_limit()) {
    page_cache.give_back_at_once(most);
    if (excess_clock_.is_due(os::clock_ms())) page_cache.give_back_lasting_excess(most);
  }
  step();
}

void Background::step() {
  const bool is_new = !has_step() && !has_thread() && is_tick_due();
  if (!is_new && !has_step()) return;
  // What a step gives back comes here again.
  if (!begin_work()) return;
  // This call does not wait while another thread gives back: a later one does the step. Another thread may
  // also have ended the look meanwhile.
  if (is_giving_back()) {
    if (is_new) has_step_.store(true, std::memory_order_relaxed);
  } else if (is_new || has_step()) {
    has_step_.store(look(LookShare::kStep) == LookState::kHasMore, std::memory_order_relaxed);
  }
  end_work();
}

// In a child by clone nobody does what a thread of its parent did at that moment.
bool Background::begin_work() {
  std::uint32_t holder = at_work_.load(std::memory_order_relaxed);
  const std::uint32_t process = os::process_id();
  return holder != process && at_work_.compare_exchange_strong(holder, process, std::memory_order_acquire);
}

void Background::end_work() { at_work_.store(0, std::memory_order_release); }

// Pages come last: what the tiers above give back is dirty until the next look.
LookState Background::look(LookShare share) {
  LookState state = LookState::kDoneAllIdle;
  if (due_bytes_ == 0) {
    const TrimIdle trim_idle = trim_idle_.load(std::memory_order_acquire);
    if (trim_idle != nullptr) state = trim_idle(share);
    if (state == LookState::kHasMore) return state;
    due_bytes_ = page_cache.unused_since_tick();
  }
  const std::size_t most = share == LookShare::kAll || due_bytes_ < kMostAtOnce ? due_bytes_ : kMostAtOnce;
  const std::size_t purged = most == 0 ? 0 : page_cache.purge_unkept(most);
  due_bytes_ = purged == 0 || purged > due_bytes_ ? 0 : due_bytes_ - purged;
  return due_bytes_ != 0 && share == LookShare::kStep ? LookState::kHasMore : state;
}

LookState Background::tick() {
  if (!begin_work()) return LookState::kDone;
  const LookState state = look(LookShare::kAll);
  has_step_.store(false, std::memory_order_relaxed);
  end_work();
  return state;
}

// The first one only begins: what was in use until now is not idle.
bool Background::is_tick_due() {
  return clock_.is_due(os::clock_ms()) && has_begun_.exchange(true, std::memory_order_relaxed);
}

bool Background::has_thread() const {
  const std::uint32_t process = thread_of_.load(std::memory_order_relaxed);
  return process != 0 && process == os::process_id();
}

// A child by clone or vfork has no thread and starts none.
bool Background::ensure_thread() {
  if (!may_run()) [[likely]]
    return false;
  if (process_.load(std::memory_order_relaxed) != os::process_id()) return false;
  if (thread_of_.load(std::memory_order_relaxed) != 0) return has_thread();
  if (is_starting_.exchange(true, std::memory_order_acquire)) return false;
  if (thread_of_.load(std::memory_order_relaxed) == 0) {
    thread_of_.store(os::process_id(), std::memory_order_relaxed);
    if (!os::start_thread(run)) {
      thread_of_.store(0, std::memory_order_relaxed);
      if (failed_starts_.fetch_add(1, std::memory_order_relaxed) == kMostFailedStarts)
        may_have_thread_.store(false, std::memory_order_relaxed);
    }
  }
  is_starting_.store(false, std::memory_order_release);
  return thread_of_.load(std::memory_order_relaxed) != 0;
}

void Background::run() {
  background.look_until_switched_off();
  background.thread_of_.store(0, std::memory_order_relaxed);
}

void Background::look_until_switched_off() {
  for (unsigned idle_ticks = 0; may_run();) {
    const std::uint32_t wakes = wakes_.load(std::memory_order_acquire);
    const bool rests =
        !clock_.has_ticks() || (idle_ticks >= kIdleTicksToRest && page_cache.dirty_bytes() < kWorthATick);
    if (has_excess_.load(std::memory_order_acquire) == 0) sleep(wakes, rests);
    if (!goes_on()) return;
    if (has_excess_.load(std::memory_order_acquire) != 0) watch_excess();
    if (clock_.has_ticks() && !is_tick_due()) continue;
    idle_ticks = tick() == LookState::kDoneAllIdle ? idle_ticks + 1 : 0;
  }
}

// Main may have left the process to others.
bool Background::goes_on() const { return may_run() && !os::is_last_thread(); }

void Background::sleep(std::uint32_t wakes_seen, bool rests) {
  const std::uint64_t period_ms = clock_.period_ms() + 1;
  is_resting_.store(rests, std::memory_order_seq_cst);
  os::wait_on(&wakes_, wakes_seen, rests || period_ms > kRestMs ? kRestMs : period_ms);
  is_resting_.store(false, std::memory_order_relaxed);
}

void Background::wake() {
  wakes_.fetch_add(1, std::memory_order_seq_cst);
  os::wake_all(&wakes_);
}

// A program that frees its heap and refills it in a loop needs the memory again within this time.
void Background::watch_excess() {
  constexpr std::size_t kAll = SIZE_MAX;
  page_cache.give_back_lasting_excess(kAll);  // starts the watch
  const auto pause = [](std::uint64_t time_ms) {
    std::atomic<std::uint32_t> nobody_wakes{0};
    os::wait_on(&nobody_wakes, 0, time_ms);
  };
  do {
    pause(kExcessMs);
    // The system may refuse for long, for locked memory as an example: then looking often is useless.
    if (!page_cache.give_back_lasting_excess(kAll)) pause(kRestMs);
    if (is_tick_due()) tick();
    if (!page_cache.exceeds_limit()) has_excess_.store(0, std::memory_order_seq_cst);
    // Excess that arose since the last look was not announced.
  } while (page_cache.exceeds_limit() && goes_on());
  has_excess_.store(0, std::memory_order_seq_cst);
}

void Background::forget_after_fork() {
  process_.store(os::process_id(), std::memory_order_relaxed);
  at_work_.store(0, std::memory_order_relaxed);
  is_starting_.store(false, std::memory_order_relaxed);
  is_resting_.store(false, std::memory_order_relaxed);
  has_excess_.store(0, std::memory_order_relaxed);
  thread_of_.store(0, std::memory_order_relaxed);
}

}  // namespace tarn::internal
