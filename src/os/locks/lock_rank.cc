#include "os/locks/lock_rank.h"

#include <utility>

namespace TARN_NAMESPACE::detail {

/// Functions of a mutex that only a fork may use, and the constructor that only the table may use.
struct MutexAccess {
  static constexpr Mutex make(std::size_t rank) { return Mutex(static_cast<LockRank>(rank)); }

  static void lock_beside_other_forks(Mutex& mutex) { mutex.take(Mutex::kHeld | Mutex::kForFork); }
  static void ask_for_fork(Mutex& mutex) { mutex.ask_for_fork(); }
  static void wait_for_fork(Mutex& mutex) { mutex.wait_for_fork(); }
  static void unlock_in_parent(Mutex& mutex) {
    // A mutex that a fork handler of the program has made is not held for the fork.
    if ((mutex.state_.load(std::memory_order_relaxed) & Mutex::kForFork) != 0) mutex.let_go();
  }
  static void lock_beside_others_of_its_rank(Mutex& mutex) {
    if (!mutex.take_free()) mutex.lock_slow();
    note_lock_taken(mutex.rank_);
  }
  // Also of a thread that has left a call half way.
  static void unlock_in_child(Mutex& mutex) {
    if (mutex.state_.load(std::memory_order_relaxed) != Mutex::kFree) mutex.let_go();
  }
};

}  // namespace TARN_NAMESPACE::detail

namespace tarn::internal::os {
namespace {

using detail::MutexAccess;

template <std::size_t... kRank>
constexpr MutexTable make_table(std::index_sequence<kRank...>) {
  return {{MutexAccess::make(kRank)...}};
}

}  // namespace

constinit MutexTable mutex_table = make_table(std::make_index_sequence<detail::kLockRankCount>());
constinit ForkSet fork_set;

void ForkSet::visit_rank(std::size_t rank, Visit visit) {
  if (!is_member_rank(static_cast<LockRank>(rank))) return visit(mutex_table.of[rank]);
  if (const Walk walk = walks_[rank].load(std::memory_order_acquire)) walk(visit);
}

// Mutexes of lower ranks guard the lists that the walks go through: so those are unlocked last.
void ForkSet::visit_from_last(Visit visit) {
  for (std::size_t rank = detail::kLockRankCount; rank-- > 0;) visit_rank(rank, visit);
}

void ForkSet::lock_all() {
  if (is_fork_owner()) {
    ++depth_;
    return;
  }
  if (is_only_thread()) return;
  // The first mutex makes a second forking thread wait, so that there is one fork owner.
  MutexAccess::lock_beside_other_forks(mutex_table.of[0]);
  set_fork_owner(true);
  // All of a rank are asked for before the first is waited for: so the fork waits for one slow call of each
  // rank, not for one of each thread.
  for (std::size_t rank = 0; rank < detail::kLockRankCount; ++rank) {
    visit_rank(rank, MutexAccess::ask_for_fork);
    visit_rank(rank, MutexAccess::wait_for_fork);
  }
}

WholeRankGuard::WholeRankGuard(LockRank rank) : rank_(rank) {
  detail::note_lock_wanted(rank);
  fork_set.visit_rank(ForkSet::index(rank), MutexAccess::lock_beside_others_of_its_rank);
}

WholeRankGuard::~WholeRankGuard() {
  fork_set.visit_rank(ForkSet::index(rank_), [](Mutex& mutex) { mutex.unlock(); });
}

bool ForkSet::end_innermost() {
  if (!is_fork_owner()) return false;
  if (depth_ == 0) return true;
  --depth_;
  return false;
}

void ForkSet::unlock_all_in_parent() {
  if (!end_innermost()) return;
  set_fork_owner(false);
  visit_from_last([](Mutex& mutex) { MutexAccess::unlock_in_parent(mutex); });
}

bool ForkSet::unlock_all_in_child() {
  if (!end_innermost()) return false;
  set_fork_owner(false);
  visit_from_last([](Mutex& mutex) { MutexAccess::unlock_in_child(mutex); });
  return true;
}

}  // namespace tarn::internal::os
