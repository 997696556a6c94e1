#include "page/give_back/helper.h"

#include "os/checker.h"
#include "os/locks/mutex.h"
#include "os/memory/memory.h"
#include "os/process/process.h"
#include "page/give_back/page_cache.h"

namespace tarn::internal {
namespace {

constexpr std::uint32_t kMostFailedStarts = 16;  // after these, the system will never allow a helper
// Waits of a millisecond for another thread that starts or ends the helper.
constexpr unsigned kMostWaits = 100;

}  // namespace

bool Helper::ensure() {
  if (is_running()) return true;
  if (!may_start()) return false;
  is_wanted_.store(true, std::memory_order_relaxed);
  start_wanted();
  return is_running();
}

void Helper::start_wanted() {
  if (!may_start()) return is_wanted_.store(false, std::memory_order_relaxed);
  if (pauses_.load(std::memory_order_relaxed) != 0) return;
  if (os::clock_ms() < not_before_ms_.load(std::memory_order_relaxed)) return;
  if (starting_.load(std::memory_order_relaxed) != 0) return;  // another thread may take long to do it
  const os::SignalBlock no_signals;  // a signal handler that forks would wait for its own thread's flag
  if (starting_.exchange(1, std::memory_order_seq_cst) != 0) return;
  // step_aside counts first and then looks at this flag, so one of the two threads sees the other.
  if (is_running()) {
    is_wanted_.store(false, std::memory_order_relaxed);  // another thread was faster
    if (!is_running()) is_wanted_.store(true, std::memory_order_relaxed);
  } else if (start() == os::HelperStart::kRefused &&
             failed_starts_.fetch_add(1, std::memory_order_relaxed) == kMostFailedStarts) {
    is_forbidden_.store(true, std::memory_order_relaxed);
  }
  starting_.store(0, std::memory_order_release);
}

os::HelperStart Helper::start() {
  // A thread that a checker has not seen begin would crash in it, or be taken for a race.
  if (os::has_checker() || !os::may_have_helper()) return os::HelperStart::kRefused;
  if (!can_step_aside_.load(std::memory_order_relaxed) && os::has_privileges())
    return os::HelperStart::kRefused;
  os::find_out_about_purge();
  // Who forbids the helper steps aside behind that: one of the two sees the other.
  if (pauses_.load(std::memory_order_seq_cst) != 0 || !may_start()) return os::HelperStart::kNotNow;
  is_wanted_.store(false, std::memory_order_relaxed);
  work_.begin();
  const os::HelperStart result = os::start_helper(work_.run);
  if (result != os::HelperStart::kStarted) {
    const bool is_work_left = work_.was_left();
    if (result == os::HelperStart::kNotNow) is_wanted_.store(is_work_left, std::memory_order_relaxed);
  }
  return result;
}

void Helper::step_aside() {
  pauses_.fetch_add(1, std::memory_order_seq_cst);
  if (starting_.load(std::memory_order_seq_cst) == 0 && !is_running()) return;
  const os::SignalBlock no_signals;
  // In a child of a bare clone, a thread that does not exist may hold the flag: so the wait has an end.
  bool has_flag = false;
  for (unsigned i = 0; !has_flag && i < kMostWaits; ++i) {
    has_flag = starting_.exchange(1, std::memory_order_acquire) == 0;
    if (!has_flag) os::wait_on(starting_, 1, 1);
  }
  const os::HelperEnd end = os::stop_helper();
  if (end != os::HelperEnd::kWasNone) is_wanted_.store(work_.was_left(), std::memory_order_relaxed);
  // A filter can kill the helper in a system call; the helper holds no other lock of ours then.
  if (end == os::HelperEnd::kWasKilled) page_cache.forget_who_gives_back();
  if (has_flag) starting_.store(0, std::memory_order_release);
}

void Helper::forbid() {
  is_forbidden_.store(true, std::memory_order_relaxed);
  is_wanted_.store(false, std::memory_order_relaxed);
  os::make_common_calls_only();
}

void Helper::return_later(std::uint64_t after_ms) {
  if (is_wanted_.load(std::memory_order_relaxed))
    not_before_ms_.store(os::clock_ms() + after_ms, std::memory_order_relaxed);
  pauses_.fetch_sub(1, std::memory_order_seq_cst);
}

void Helper::return_now() {
  pauses_.fetch_sub(1, std::memory_order_seq_cst);
  if (!is_wanted_.load(std::memory_order_relaxed)) return;
  start_wanted();
  not_before_ms_.store(os::clock_ms() + kPauseMs, std::memory_order_relaxed);
}

void Helper::forget_after_fork(OtherThreads other_threads) {
  os::forget_helper_after_fork();
  // One pause is this fork's. The others belong to threads that are gone, or to an outer fork that made this
  // one in its handlers.
  if (other_threads == OtherThreads::kGone) {
    pauses_.store(0, std::memory_order_relaxed);
  } else {
    pauses_.fetch_sub(1, std::memory_order_relaxed);
  }
  starting_.store(0, std::memory_order_relaxed);
  not_before_ms_.store(0, std::memory_order_relaxed);
  static_cast<void>(work_.was_left());
}

}  // namespace tarn::internal
