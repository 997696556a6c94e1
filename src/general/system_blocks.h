// Blocks of pools that come from malloc, one by one, because the option pools_use_malloc says so: which pool
// each belongs to and how large it is. A record beside each, so that a block begins where malloc's does and
// checkers see its ends.
//
// A hash table of records, chained; a pool's records are also a list, so that the pool ends at the cost of
// its own blocks.
// Threads: any; one mutex. malloc and free are called without it, with no lock of a pool held and outside of
// the thread's HeapScope: where malloc is ours, it serves them from the general pool.
#pragma once
#include <cstddef>

#include "base/block_visitor.h"
#include "general/pool_header.h"
#include "os/lock_rank.h"

namespace tarn::internal {

struct SystemBlock {
  SystemBlock* previous;  // in the pool's list
  SystemBlock* next;
  SystemBlock* next_in_bucket;
  void* block;
  PoolHeader* pool;
  std::size_t bytes;
};

class SystemBlocks {
 public:
  /// \returns nullptr when malloc refuses, or memory for the record is refused.
  void* allocate(PoolHeader& pool, std::size_t bytes, std::size_t alignment);

  /// Frees a block of the pool. \post *bytes is what it was allocated with. \returns false when it is none.
  bool deallocate(const PoolHeader& pool, void* block, std::size_t* bytes);
  /// Frees all blocks of a pool.
  void deallocate_all(const PoolHeader& pool);

  /// The pool a block belongs to; nullptr: none.
  PoolHeader* pool_of(const void* block);
  /// The oldest live block of a pool; nullptr: none is live.
  void* first_of(const PoolHeader& pool);
  /// Visits the live blocks of a pool, under the lock.
  void visit(const PoolHeader& pool, const BlockVisitor& visit);
  std::size_t bytes_of_block(const void* block);

 private:
  // Its memory goes back at its end: outside of the lock.
  struct Table {
    SystemBlock** buckets = nullptr;
    std::size_t count = 0;
    ~Table();
  };

  SystemBlock** link_of_locked(const void* block);
  SystemBlock* find_locked(const void* block);
  bool grow_locked(Table& old);

  os::Mutex& mutex_ = os::global_mutex<os::LockRank::kSystemBlocks>();
  SystemBlock** buckets_ = nullptr;
  std::size_t bucket_count_ = 0;  // a power of two
  std::size_t block_count_ = 0;   // at most bucket_count_
};

extern SystemBlocks system_blocks;

}  // namespace tarn::internal
