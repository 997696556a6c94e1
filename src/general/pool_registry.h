// Every pool of the program: for the statistics, for trim, for fork, and for deallocate of a pool's block by
// somebody who does not know the pool.
//
// Threads: any. Every PoolHeader is in the registry before a second thread can know its pool, so a fork finds
// the mutexes of them all.
#pragma once
#include <atomic>
#include <cstddef>

#include "base/list.h"
#include "general/pool_header.h"
#include "os/lock_rank.h"
#include "page/span.h"
#include "tarn/pool_use.h"

namespace tarn::internal {

/// Where a walk over all pools stands between two visits, which run without a lock.
struct PoolWalk {
  PoolHeader* next;           // whom the walk comes to next; moves on when that pool ends
  std::uint64_t last_number;  // pools that are added later are not visited, so that a walk ends
  const void* stack_owner;    // as in PoolHeader
  PoolWalk* next_walk;
};

class PoolRegistry {
 public:
  void add(PoolHeader& pool);
  void remove(PoolHeader& pool);

  /// Adds a pool of which there is to be one, unless `only` has one already. \returns whether it was added.
  bool add_only(PoolHeader& pool, std::atomic<PoolHeader*>& only);

  /// A walk over the pools there are now: begin, then next until it says false. No lock is held in between,
  /// so the caller may do anything, also make and end pools.
  void begin_walk(PoolWalk& walk);
  /// What the next pool holds, with its name copied. \returns false at the end, when the walk is over.
  bool next_in_walk(PoolWalk& walk, PoolUse* use, char* name);

  /// The span of a pool in memory of a caller's that holds an address, or nullptr. \cost a lock and a look at
  /// each such pool, when there are any.
  Span* find_span(const void* pointer);

  /// A pool in memory of a caller's begins, and has ended.
  void add_callers_memory(PoolHeader& pool);
  void remove_callers_memory(PoolHeader& pool);

  /// \returns bytes given back to the page cache by all pools that may be told to from any thread.
  std::size_t release_unused();

  /// Calls visit for a mutex of each pool. \pre a fork has locked the registry.
  void visit_mutexes_for_fork(os::ForkSet::Visit visit);
  void visit_structures_for_fork(os::ForkSet::Visit visit);
  /// Stops the process where the list of pools is not in the order of their numbers.
  void validate();

  /// In the child: pools and walks on the stacks of threads that are gone, whose memory the next threads get,
  /// are nobody's.
  void forget_vanished_stacks();

 private:
  void add_locked(PoolHeader& pool);
  void remove_locked(PoolHeader& pool);
  void end_walk_locked(PoolWalk& walk);

  os::Mutex& mutex_ = os::global_mutex<os::LockRank::kPoolRegistry>();
  List<PoolHeader> pools_;  // in the order of their numbers
  PoolWalk* first_walk_ = nullptr;
  std::uint64_t pools_added_ = 0;
  os::Mutex& callers_memory_mutex_ = os::global_mutex<os::LockRank::kCallersMemory>();
  std::atomic<PoolHeader*> first_in_callers_memory_{nullptr};
};

extern PoolRegistry pool_registry;

}  // namespace tarn::internal
