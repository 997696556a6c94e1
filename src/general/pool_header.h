// What the library knows of any pool: the first bytes of its record, and the operations of its kind. So a
// free, a scope, a walk for statistics and a fork meet pools without knowing them.
//
// Threads: every mutex of a pool is a member of its PoolHeader, so that a fork finds it (pool_registry.h).
// `mutex` is what a pool for any thread takes for each call. `structure` guards which chunks a pool has
// against those who look at it from outside; the pool takes it when it grows or shrinks.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/list.h"
#include "os/lock_rank.h"
#include "page/returned_pages.h"
#include "page/span.h"
#include "tarn/pool_use.h"
#include "thread/this_thread.h"

namespace tarn::internal {

struct PoolHeader;
struct SystemBlock;

/// What a kind of pool does with a block of which only the address is known.
struct PoolOperations {
  const char* kind;
  /// A block for the thread that is in the pool's scope; nullptr where a pool has no scopes.
  void* (*allocate)(PoolHeader& pool, std::size_t size, std::size_t alignment);
  /// Takes a block that lies in memory of the pool's back. Stops the process when it is none.
  void (*deallocate)(PoolHeader& pool, void* block);
  /// Bytes of a live block.
  std::size_t (*usable_size)(PoolHeader& pool, const void* block);
  /// Changes a block's size within its pool; nullptr where blocks move to the general pool instead.
  void* (*reallocate)(PoolHeader& pool, void* block, std::size_t size);
  /// What the pool holds. Slabs that end on the way go to `returned`. nullptr where the record is a part of
  /// another pool.
  PoolUse (*use)(PoolHeader& pool, ReturnedPages& returned);
  /// Gives what holds no live block back. \returns bytes. nullptr where only the pool's own thread may.
  std::size_t (*release_unused)(PoolHeader& pool, ReturnedPages& returned);
  /// The span that holds an address in memory the page map does not know; nullptr where there is no such
  /// memory.
  Span* (*find_span)(PoolHeader& pool, const void* pointer);
};

struct PoolHeader {
  static constexpr std::size_t kNameBytes = 32;

  const PoolOperations* operations = nullptr;
  os::MemberMutex<os::LockRank::kPool> mutex{};
  os::MemberMutex<os::LockRank::kPoolStructure> structure{};
  /// The thread (its thread cache) on whose stack the program's own object of the pool lies; nullptr:
  /// elsewhere.
  const void* stack_owner = nullptr;
  PoolHeader* previous = nullptr;
  PoolHeader* next = nullptr;
  PoolHeader* next_in_callers_memory = nullptr;
  List<SystemBlock> malloc_blocks{};  // its live blocks that are malloc's, under their table's lock
  std::uint64_t number = 0;           // in the order in which pools were added
  char name[kNameBytes] = {};

  /// \param fallback the name of a pool that was given none (nullptr).
  void set_name(const char* text, const char* fallback);
};

/// The pool of the calling thread's innermost scope; nullptr: the general pool.
inline PoolHeader* scope_pool() { return static_cast<PoolHeader*>(this_thread_scope()); }

}  // namespace tarn::internal
