// Blocks of pools that come from malloc, one by one, because the option pools_use_malloc says so: which pool each belongs
// to and how large it is. A table beside them, so that a block begins where malloc's does and checkers see its ends.
// Threads: any; one mutex, and malloc is called without it.
#pragma once
#include <cstddef>

#include "os/mutex.h"
#include "pool/pool_registry.h"

namespace tarn::internal {

class SystemBlocks {
 public:
  /// \returns nullptr when malloc refuses, or the table may not grow.
  void* allocate(PoolHeader& pool, std::size_t bytes, std::size_t alignment);
  /// \returns the bytes the block was allocated with. \pre pool_of(block) is not nullptr.
  std::size_t deallocate(void* block);
  /// Frees all blocks of a pool.
  void deallocate_all(const PoolHeader& pool);

  /// The pool a block belongs to; nullptr: none.
  PoolHeader* pool_of(const void* block);
  /// The next block of a pool, from *index on, which then stands behind it; nullptr: no more. Blocks may come and go
  /// meanwhile, but one that comes may be missed.
  void* next_of(const PoolHeader& pool, std::size_t* index);
  std::size_t bytes_of_block(const void* block);

  os::Mutex& mutex() { return mutex_; }

 private:
  struct Entry {
    void* block;  // nullptr: never used; kRemoved: used once
    PoolHeader* pool;
    std::size_t bytes;
  };

  Entry* find_locked(const void* block);
  bool insert_locked(const Entry& entry);
  bool grow_locked();

  os::Mutex mutex_;
  Entry* entries_ = nullptr;
  std::size_t capacity_ = 0;  // a power of two
  std::size_t filled_ = 0;    // entries that were ever used since the table was made
};

extern SystemBlocks system_blocks;

}  // namespace tarn::internal
