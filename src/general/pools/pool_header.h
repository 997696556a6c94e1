// The common part of all pools: the first bytes of a pool's record, with the operations of its kind. So
// frees, scopes, walks for statistics and forks handle pools without knowing their kinds.
//
// Threads: every mutex of a pool is a member of its PoolHeader, so that a fork finds it (pool_registry.h).
// Most calls take none.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/list.h"
#include "os/locks/lock_rank.h"
#include "page/give_back/returned_pages.h"
#include "page/spans/span.h"
#include "tarn/pool_use.h"
#include "thread/this_thread.h"

namespace tarn::internal {

struct PoolHeader;
struct SystemBlock;
class LivePicture;

/// What a PoolHeader is the first part of: for readers of the process's memory, which know no operations.
enum class PoolRecord : std::uint8_t { kNone, kBlocks, kHandle, kHeap };

inline constexpr const char* kObjectPoolKind = "object pool";

/// The operations of a kind of pool, for code that knows only a block's address.
struct PoolOperations {
  const char* kind;
  PoolRecord record;
  /// Allocates for a thread in the pool's scope; nullptr where a kind of pool has no scopes.
  void* (*allocate)(PoolHeader& pool, std::size_t size, std::size_t alignment) = nullptr;
  /// Frees a block in the pool's memory. Stops the process when the pointer is no live block.
  void (*deallocate)(PoolHeader& pool, void* block) = nullptr;
  /// \returns the bytes of a live block.
  std::size_t (*usable_size)(PoolHeader& pool, const void* block) = nullptr;
  /// Changes a block's size within its pool; nullptr: a block of another size lies outside of the pool.
  void* (*reallocate)(PoolHeader& pool, void* block, std::size_t size) = nullptr;
  /// Counts the pool's memory. Slabs that end on the way are added to `returned`. nullptr where another
  /// record tells of the same memory.
  PoolUse (*use)(PoolHeader& pool, ReturnedPages& returned) = nullptr;
  /// Gives memory without live blocks back. \returns bytes. nullptr where only the pool's own thread may.
  std::size_t (*release_unused)(PoolHeader& pool, ReturnedPages& returned) = nullptr;
  /// \returns the span that holds an address in memory that the page map does not know; nullptr where the
  /// kind has no such memory.
  Span* (*find_span)(PoolHeader& pool, const void* pointer) = nullptr;
  /// Adds the pool's live blocks from a place on to an empty picture, and moves the place behind them; 0 is
  /// the first place, what others mean is the pool's affair. \returns whether there may be more. nullptr
  /// where another record tells of the same blocks.
  bool (*add_live)(PoolHeader& pool, std::uintptr_t& place, LivePicture& picture) = nullptr;
  /// \returns the owner of the slabs of the pool; nullptr where there is none.
  SlabOwner* (*owner)(const PoolHeader& pool) = nullptr;
};

struct PoolHeader {
  static constexpr std::size_t kNameBytes = 32;
  static constexpr std::size_t kKindBytes = 15;

  const PoolOperations* operations = nullptr;
  os::MemberMutex<os::LockRank::kPool> mutex{};
  /// The thread (its thread cache) that has the program's pool object on its stack; nullptr: the object is
  /// elsewhere.
  const void* stack_owner = nullptr;
  PoolHeader* previous = nullptr;
  PoolHeader* next = nullptr;
  PoolHeader* next_in_callers_memory = nullptr;
  List<SystemBlock> malloc_blocks{};  // the pool's live blocks from malloc, under their table's lock
  std::uint64_t number = 0;           // ascends in the order in which pools were added
  char name[kNameBytes] = {};
  // Copies of what the operations say, made when the pool is registered.
  PoolRecord record = PoolRecord::kNone;
  char kind[kKindBytes] = {};
  bool is_sensitive = false;  // readers of the process's memory are to read none of its blocks
  /// Whether what is freed becomes zeros; in the hardened library of every pool.
  bool wipes_freed() const { return is_sensitive || detail::kIsHardened; }

  /// \param fallback the name when `text` is empty.
  void set_name(const char* text, const char* fallback);
  /// Writes the line of a pool that ends with live objects.
  void report_live(std::size_t count, std::size_t object_bytes) const;
};

/// \returns the pool of the calling thread's innermost scope; nullptr: the general pool.
inline PoolHeader* scope_pool() { return static_cast<PoolHeader*>(this_thread_scope()); }

}  // namespace tarn::internal
