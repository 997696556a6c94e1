// The order of all locks, first taken first, and how a fork knows each of them.
//
// A mutex that exists once lies in a table, by its rank. A mutex that exists many times is a MemberMutex, and
// its rank has a walk that visits all of them. Nothing else can make a mutex, so a fork, which goes through
// the ranks, cannot miss one. Only kDepot has no walk: a thread holds the mutex of its heap or of the owner
// while it takes one of these, and a fork that has all of those finds each kDepot free.
//
// A magazine's OwnerLock is no mutex, and comes after all of these: nothing is locked inside.
//
// Rules: a thread that holds a lock takes only locks of higher ranks; a lock of the same or of a lower rank
// is only ever tried. Where all of a rank are taken (WholeRankGuard), what guards their list comes first, so
// that two threads that do it do not meet. No lock but kGiveBack is held across a call that gives memory back
// or runs a function of the program's. Debug and sanitizer builds check both (os/locks/held_locks.h).
//
// A fork takes all locks, so that no state is half changed in the child. It waits for at most one holder of
// each: a holder hands its lock to the fork, and all locks of a rank are asked for before the first is waited
// for. Then they belong to the forking thread: fork handlers of the program may run between ours and the
// fork, in any order, and may allocate. In a process of one thread a fork takes none: no other thread can
// hold one, and each would cost parent and child a page.
// Threads: lock_all and the two after it in the thread that forks; set_walk by any, before the first mutex of
// its rank.
#pragma once
#include <cstddef>

#include "os/locks/mutex.h"

namespace TARN_NAMESPACE::detail {

enum class LockRank : std::uint8_t {
  kSetUp,          // reading and changing the options
  kMemoryLimit,    // the limits of memory, and the function to tell
  kThreadKey,      // making the key with the destructor that ends a thread's heap
  kPoolRegistry,   // the list of pools
  kCallersMemory,  // the list of pools over a caller's memory
  kPrivateClass,   // the size classes of typed pools
  kPool,           // many: what changes all of a pool
  kSystemBlocks,   // pool blocks that come from malloc
  kGiveBack,       // held while free memory is out of its lists to be given back
  kThreads,        // the lists of heaps
  kMagazines,      // many: a thread's magazines
  kOwner,          // many: the slabs of an owner
  kDepot,          // many: what an owner has parked of a class
  kPageGrowth,     // taking more chunks
  kPageCache,      // free pages, the page map
  kLiveMap,        // live bytes: which classes have some, and their memory
  kSpans,          // records of spans
  kMetadata,       // memory of all records
  kGuarded,        // which slots have guarded blocks
  kSamples,        // many: a part of the table of sampled blocks
  kSampledStacks,  // new stacks of samples
  kTest,           // many: of tests; forks do not visit them
};
inline constexpr std::size_t kLockRankCount = static_cast<std::size_t>(LockRank::kTest) + 1;

}  // namespace TARN_NAMESPACE::detail

namespace tarn::internal::os {

using detail::LockRank;

constexpr bool is_member_rank(LockRank rank) {
  return rank == LockRank::kPool || rank == LockRank::kOwner || rank == LockRank::kMagazines ||
         rank == LockRank::kDepot || rank == LockRank::kSamples || rank == LockRank::kTest;
}

struct MutexTable;
extern MutexTable mutex_table;

/// The mutex of a rank that has exactly one.
template <LockRank kRank>
requires(!is_member_rank(kRank)) constexpr Mutex& global_mutex();

/// Whether the calling thread is the process's only one.
inline bool is_only_thread() { return !detail::ProgramGuard::is_needed(); }

class ForkSet {
 public:
  using Visit = void (*)(Mutex& mutex);
  /// Calls visit for each mutex of a rank. \pre all mutexes of lower ranks are held.
  using Walk = void (*)(Visit visit);

  void set_walk(LockRank rank, Walk walk) { walks_[index(rank)].store(walk, std::memory_order_release); }

  void lock_all();
  void unlock_all_in_parent();
  /// \returns whether there were other threads, which are gone now; false also for a fork within a fork's
  /// handler.
  bool unlock_all_in_child();

 private:
  friend class WholeRankGuard;
  static constexpr std::size_t index(LockRank rank) { return static_cast<std::size_t>(rank); }
  void visit_rank(std::size_t rank, Visit visit);
  void visit_from_last(Visit visit);
  bool end_innermost();

  std::atomic<Walk> walks_[detail::kLockRankCount] = {};
  unsigned depth_ = 0;  // above 1: forks in handlers of a fork
};

extern ForkSet fork_set;

/// All mutexes of a rank that has many. \pre the mutex that guards their list is held: none begins or ends
/// meanwhile.
class WholeRankGuard {
 public:
  explicit WholeRankGuard(LockRank rank);
  ~WholeRankGuard();
  WholeRankGuard(const WholeRankGuard&) = delete;
  WholeRankGuard& operator=(const WholeRankGuard&) = delete;

 private:
  LockRank rank_;
};

struct MutexTable {
  Mutex of[detail::kLockRankCount];
};

template <LockRank kRank>
requires(!is_member_rank(kRank)) constexpr Mutex& global_mutex() {
  return mutex_table.of[static_cast<std::size_t>(kRank)];
}

}  // namespace tarn::internal::os
