// Blocks that come from malloc, one by one: those of pools, because of the option pools_use_malloc, and for
// checkers the general pool's (below). Records each block's pool and size. The record lies apart from the
// block, so that the block begins where malloc's does and checkers see its ends.
//
// A hash table of records, chained. The records of a pool also form a list, so that ending the pool costs
// only its own blocks.
// Threads: any; one mutex. malloc and free are called with neither this mutex nor a pool's lock held, and
// outside of the thread's HeapScope: where malloc is ours, the general pool serves them.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/block_visitor.h"
#include "general/options/block_source.h"
#include "general/pools/pool_header.h"
#include "os/locks/lock_rank.h"

namespace tarn::internal {

struct SystemBlock {
  SystemBlock* previous;  // in its pool's list
  SystemBlock* next;
  SystemBlock* next_in_bucket;
  std::uintptr_t inverse;  // of the block's address: a checker that meets the record is not to follow it
  PoolHeader* pool;
  std::size_t bytes;

  void* block() const { return reinterpret_cast<void*>(~inverse); }
};

class SystemBlocks {
 public:
  /// \returns nullptr when malloc refuses, or when memory for the record is refused.
  void* allocate(PoolHeader& pool, std::size_t bytes, std::size_t alignment);

  /// Frees a block of the pool; of a sensitive one, wiped. \post *bytes is its allocated size. \returns false
  /// when it is no such block.
  bool deallocate(const PoolHeader& pool, void* block, std::size_t* bytes);
  /// Frees all blocks of a pool.
  void deallocate_all(const PoolHeader& pool);

  /// \returns the pool of a block; nullptr: it belongs to no pool.
  PoolHeader* pool_of(const void* block);
  /// \returns the oldest live block of a pool; nullptr: no block is live.
  void* first_of(const PoolHeader& pool);
  /// Visits the live blocks of a pool, under the lock.
  void visit(const PoolHeader& pool, const BlockVisitor& visit);
  std::size_t bytes_of_block(const void* block);
  /// Adds the live blocks of a pool behind an address, the lowest first (PoolOperations::add_live).
  bool add_live(const PoolHeader& pool, std::uintptr_t& behind, LivePicture& picture);

 private:
  // Frees the table's memory at its end: outside of the lock.
  struct Table {
    SystemBlock** buckets = nullptr;
    std::size_t count = 0;
    ~Table();
  };

  SystemBlock** link_of_locked(const void* block);
  SystemBlock* find_locked(const void* block);
  bool grow_locked(Table& old);

  static constexpr os::Mutex& mutex_ = os::global_mutex<os::LockRank::kSystemBlocks>();
  SystemBlock** buckets_ = nullptr;
  std::size_t bucket_count_ = 0;  // a power of two
  std::size_t block_count_ = 0;   // at most bucket_count_
};

extern SystemBlocks system_blocks;

// The general pool's blocks from malloc, one by one, for checkers that know malloc's blocks alone: with the
// option pools_use_malloc, which ThreadSanitizer, Helgrind, DRD, Massif and DHAT set; and where nobody has
// set that option and LeakSanitizer (or AddressSanitizer, which has it) or memcheck looks. Not where malloc
// is ours. Valgrind's, or that of a program with the archive, stands in front of ours: then malloc's blocks
// and the general pool's are freed by the functions of either, so all are malloc's and the table has none.
//
// The thread's magazines stay empty then, so each call comes to a slow door, and a block's pages name no
// record, so its free does too. A pool of its own stands for the general pool in the table above: that
// brings frees, sizes and reallocations to its operations.
// Threads: any, with no lock held.

[[gnu::cold]] bool takes_blocks_from_malloc_slow();
/// \cost a load, after the first call.
inline bool takes_blocks_from_malloc() {
  if (block_source.load(std::memory_order_relaxed) == BlockSource::kSlabs) [[likely]]
    return false;
  return takes_blocks_from_malloc_slow();
}

/// A block of the general pool. \returns nullptr with errno ENOMEM when malloc refuses.
void* allocate_from_malloc(std::size_t size, std::size_t alignment);

/// \returns the pool of blocks that neither pages nor the table know, where another serves in place of our
/// malloc; nullptr elsewhere.
PoolHeader* pool_of_unknown();

/// Its live blocks behind an address (PoolOperations::add_live).
bool add_live_from_malloc(std::uintptr_t& behind, LivePicture& picture);
/// The bytes of them all.
std::size_t live_bytes_from_malloc();

}  // namespace tarn::internal
