// The blocks of the pools elsewhere (docs/elsewhere.md): each is one of malloc's, or a part of one, and a pool
// keeps a list of those that are live.
//
// A block has a head before it, which names its pool. Of several side by side only the first has one, so the
// others go back by their pool alone.
// Threads: any; one mutex serves all pools.
#pragma once
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "tarn/detail/api.h"
#include "tarn/detail/pool_name.h"
#include "tarn/hooks.h"

namespace TARN_NAMESPACE::detail {

[[noreturn]] inline void stop(const char* what, const char* pool, const void* address) noexcept {
  std::fprintf(stderr, "tarn: %s in '%s': %p\n", what, pool, address);
  std::abort();
}

struct PoolBlocks;

struct BlockHead {
  PoolBlocks* pool;  // nullptr: the general pool
  void* memory;
  std::size_t bytes;

  static BlockHead of(const void* block) {
    BlockHead head;
    std::memcpy(&head, static_cast<const char*>(block) - sizeof head, sizeof head);
    return head;
  }
  void write(void* block) const { std::memcpy(static_cast<char*>(block) - sizeof *this, this, sizeof *this); }
};

inline void wipe(void* start, void* end) {
  for (volatile char* at = static_cast<char*>(start); at != end; ++at) *at = 0;
}

inline void* refuse(int error) {
  errno = error;
  return nullptr;
}

/// \returns a block of malloc's with a head; nullptr with errno ENOMEM or EINVAL.
inline void* make_block(PoolBlocks* pool, std::size_t bytes, std::size_t alignment) {
  if (alignment == 0 || (alignment & (alignment - 1)) != 0) return refuse(EINVAL);
  alignment = std::max(alignment, std::size_t{16});
  bytes = std::max(bytes, std::size_t{1});
  if (bytes > PTRDIFF_MAX - alignment - sizeof(BlockHead)) return refuse(ENOMEM);
  auto* const memory = static_cast<char*>(std::malloc(sizeof(BlockHead) + alignment + bytes));
  if (memory == nullptr) return refuse(ENOMEM);
  const auto least = reinterpret_cast<std::uintptr_t>(memory) + sizeof(BlockHead);
  char* const block = memory + sizeof(BlockHead) + (0 - least) % alignment;
  BlockHead{pool, memory, bytes}.write(block);
  return block;
}

inline std::mutex& mutex_of_pools() {
  static std::mutex mutex;
  return mutex;
}
using PoolsGuard = std::lock_guard<std::mutex>;

inline std::set<PoolBlocks*>& all_pools() {
  static std::set<PoolBlocks*> pools;
  return pools;
}

/// The live blocks of a pool, and their limits. Members are guarded by the mutex of all pools.
struct PoolBlocks {
  struct Run {
    void* memory;
    std::size_t live_count;
  };
  struct Piece {
    std::size_t bytes;
    Run* run;  // nullptr: a block of its own
  };

  PoolBlocks(const char* kind_, const PoolName& name_, const char* usual_name) : kind(kind_), name(name_) {
    if (name.is_empty()) name = usual_name;
    const PoolsGuard guard(mutex_of_pools());
    all_pools().insert(this);
  }
  PoolBlocks(const PoolBlocks&) = delete;
  PoolBlocks& operator=(const PoolBlocks&) = delete;
  ~PoolBlocks() {
    clear();
    const PoolsGuard guard(mutex_of_pools());
    all_pools().erase(this);
  }

  /// \returns the first of `count` blocks side by side; nullptr at a limit or without memory.
  void* take(std::size_t bytes, std::size_t alignment, std::size_t count = 1) {
    bytes = std::max(bytes, std::size_t{1});
    if (count == 0 || bytes > PTRDIFF_MAX / count) return refuse(ENOMEM);
    const PoolsGuard guard(mutex_of_pools());
    for (const PoolBlocks* pool = this; pool != nullptr; pool = pool->parent)
      if (pool->live_bytes + count * bytes > pool->most_bytes) return refuse(ENOMEM);
    if (live.size() + count > most_count) return refuse(ENOMEM);
    void* const first = make_block(this, count * bytes, alignment);
    if (first == nullptr) return nullptr;
    Run* const run = count == 1 ? nullptr : new Run{BlockHead::of(first).memory, count};
    for (std::size_t i = 0; i < count; ++i) live[static_cast<char*>(first) + i * bytes] = {bytes, run};
    if (run != nullptr) BlockHead{this, run->memory, bytes}.write(first);
    for (PoolBlocks* pool = this; pool != nullptr; pool = pool->parent) {
      pool->live_bytes += count * bytes;
      pool->peak_live_bytes = std::max(pool->peak_live_bytes, pool->live_bytes);
    }
    return first;
  }

  /// Frees a block; what is none of the pool's live ones stops the process.
  void give(void* block) {
    const PoolsGuard guard(mutex_of_pools());
    const auto found = live.find(static_cast<char*>(block));
    if (found == live.end()) stop("free of no live block", name.text(), block);
    end(found);
  }
  void clear() {
    const PoolsGuard guard(mutex_of_pools());
    while (!live.empty()) end(live.begin());
  }
  /// Lets blocks live on as the general pool's. \pre none lies beside another.
  void hand_over() {
    const PoolsGuard guard(mutex_of_pools());
    for (const auto& [block, piece] : live)
      BlockHead{nullptr, BlockHead::of(block).memory, piece.bytes}.write(block);
    live.clear();
  }

  /// \returns the live block behind an address; nullptr: there is none.
  void* next_live(const void* block) const {
    const PoolsGuard guard(mutex_of_pools());
    const auto next = live.upper_bound(static_cast<char*>(const_cast<void*>(block)));
    return next != live.end() ? next->first : nullptr;
  }
  bool owns(const void* pointer) const {
    const PoolsGuard guard(mutex_of_pools());
    auto* const address = static_cast<char*>(const_cast<void*>(pointer));
    const auto next = live.upper_bound(address);
    return next != live.begin() && address < std::prev(next)->first + std::prev(next)->second.bytes;
  }
  std::size_t live_count() const {
    const PoolsGuard guard(mutex_of_pools());
    return live.size();
  }

  const char* const kind;
  PoolName name;
  std::size_t block_bytes = 0;  // 0: blocks differ
  std::size_t most_count = SIZE_MAX, most_bytes = SIZE_MAX;
  bool is_sensitive = false;
  PoolBlocks* parent = nullptr;  // its limits hold too
  std::size_t live_bytes = 0, peak_live_bytes = 0, refusals = 0;
  std::map<char*, Piece> live;

 private:
  void end(std::map<char*, Piece>::iterator block) {
    const auto [bytes, run] = block->second;
    annotate_bump(block->first, bytes);  // a checker was told that it is free
    if (is_sensitive) wipe(block->first, block->first + bytes);
    for (PoolBlocks* pool = this; pool != nullptr; pool = pool->parent) pool->live_bytes -= bytes;
    if (run == nullptr) {
      std::free(BlockHead::of(block->first).memory);
    } else if (--run->live_count == 0) {
      std::free(run->memory);
      delete run;
    }
    live.erase(block);
  }
};

/// The innermost scope of a thread (tarn/heap.h).
inline thread_local PoolBlocks* scope = nullptr;

inline void* allocate_aligned(std::size_t size, std::size_t alignment) noexcept {
  return scope != nullptr ? scope->take(size, alignment) : make_block(nullptr, size, alignment);
}
inline void* allocate_slow(std::size_t size) noexcept { return allocate_aligned(size, 16); }
inline void deallocate_slow(void* block) noexcept {
  if (block == nullptr) return;
  const BlockHead head = BlockHead::of(block);
  head.pool != nullptr ? head.pool->give(block) : std::free(head.memory);
}
inline void* exchange_scope(void* other) noexcept {
  return std::exchange(scope, static_cast<PoolBlocks*>(other));
}

[[noreturn]] inline void end_for_lack_of_memory() noexcept { stop("out of memory", "the program", nullptr); }

/// A pool of blocks of one size.
struct BlockPoolState : PoolBlocks {
  using PoolBlocks::PoolBlocks;

  std::size_t alignment = 16, blocks_per_chunk = 1, usable = 0;
  bool throws = false;
  void (*on_refusal)(void* context) = nullptr;
  void* context = nullptr;
};

}  // namespace TARN_NAMESPACE::detail
