// Every pool of the program: for the statistics, for trim, for fork, and for deallocate of a pool's block by somebody
// who does not know the pool.
//
// Threads: any. A pool's `structure` mutex guards which chunks it has against those who look at it from outside; the
// pool takes it when it grows or shrinks. `user_mutex` is what a thread-safe pool takes for each call.
#pragma once
#include <atomic>
#include <cstddef>

#include "base/list.h"
#include "os/mutex.h"
#include "page/span.h"
#include "tarn/pool_use.h"

namespace tarn::internal {

struct PoolHeader;

struct PoolOperations {
  const char* kind;
  /// Takes a block that lies in memory of the pool's back. Stops the process when it is none.
  void (*deallocate)(PoolHeader& pool, void* block);
  /// Bytes of a live block.
  std::size_t (*usable_size)(PoolHeader& pool, const void* block);
  /// Changes a block's size within its pool; nullptr where blocks move to the general pool instead.
  void* (*reallocate)(PoolHeader& pool, void* block, std::size_t size);
  /// \pre the pool's structure mutex is held.
  PoolUse (*use_locked)(PoolHeader& pool);
  /// Gives back what holds no live block. \returns bytes. nullptr where only the pool's own thread may.
  std::size_t (*release_unused)(PoolHeader& pool);
  /// The span that holds an address in memory the page map does not know; nullptr where there is no such memory.
  Span* (*find_span)(PoolHeader& pool, const void* pointer);
};

struct PoolHeader {
  static constexpr std::size_t kNameBytes = 32;

  const PoolOperations* operations;
  os::Mutex* user_mutex;
  os::Mutex structure;
  /// The thread (its thread cache) on whose stack the program's own object of the pool lies; nullptr: elsewhere.
  const void* stack_owner;
  PoolHeader* previous;
  PoolHeader* next;
  PoolHeader* next_in_callers_memory;
  char name[kNameBytes];

  void set_name(const char* text);
};

class PoolRegistry {
 public:
  void add(PoolHeader& pool);
  void remove(PoolHeader& pool);

  /// Calls visit(pool) for each, under the registry's lock.
  template <typename Visit>
  void for_each(Visit visit) {
    os::LockGuard guard(mutex_);
    for (PoolHeader* pool = pools_.first(); pool != nullptr; pool = pool->next) visit(*pool);
  }

  /// The span of a pool in memory of a caller's that holds an address, or nullptr. Not under the registry's lock, so that
  /// a visit of for_each may free. \cost a lock and a look at each such pool, when there are any.
  Span* find_span(const void* pointer);

  /// A pool in memory of a caller's begins, and has ended.
  void add_callers_memory(PoolHeader& pool);
  void remove_callers_memory(PoolHeader& pool);

  /// \returns bytes given back to the page cache by all pools that may be told to from any thread.
  std::size_t release_unused();

  void lock_all_for_fork();
  void unlock_all_after_fork();
  /// In the child: pools on the stacks of threads that are gone, whose memory the next threads get, are nobody's.
  void forget_vanished_stacks();

 private:
  os::Mutex mutex_;
  List<PoolHeader> pools_;
  os::Mutex callers_memory_mutex_;
  std::atomic<PoolHeader*> first_in_callers_memory_{nullptr};
};

extern PoolRegistry pool_registry;

}  // namespace tarn::internal
