// What pools cache themselves (CachedBlocks, slab_owner.h), for all callers that count or name free blocks.
//
// Threads: with the owner's mutex. The pool's one thread may take and free blocks meanwhile: then a block it
// has just taken may be visited, and one it has just freed may not.
#pragma once
#include "base/bitmap.h"
#include "central/slabs/slab_owner.h"

namespace tarn::internal {

/// \returns how many blocks the owner's pool has cached.
inline std::size_t cached_block_count(const SlabOwner& owner) {
  std::size_t blocks = 0;
  for (const CachedBlocks* cached = owner.cached_blocks; cached != nullptr; cached = cached->next)
    blocks += std::size_t{cached->count()} * cached->run_length;
  return blocks;
}

/// Calls visit(block) for each of these.
template <typename Visit>
void visit_cached_blocks(const SlabOwner& owner, const Visit& visit) {
  for (const CachedBlocks* cached = owner.cached_blocks; cached != nullptr; cached = cached->next)
    for (std::uint32_t i = 1, count = cached->count(); i <= count; ++i) {
      char* const first = static_cast<char*>(__atomic_load_n(cached->slots + i, __ATOMIC_RELAXED));
      for (std::uint32_t k = 0; first != nullptr && k < cached->run_length; ++k)
        visit(first + std::size_t{k} * owner.geometries[0].stride);
    }
}

/// The next free of each pool's one thread shall be slow.
inline void ring_cached_blocks(const SlabOwner& owner) {
  for (const CachedBlocks* cached = owner.cached_blocks; cached != nullptr; cached = cached->next)
    if (cached->limit != nullptr) __atomic_store_n(cached->limit, nullptr, __ATOMIC_RELAXED);
}

/// The owner's pool ends, or is gone with a thread's stack.
inline void forget_cached_blocks(SlabOwner& owner) {
  os::LockGuard guard(owner.mutex);
  owner.cached_blocks = nullptr;
}

/// Gives an array more room. \param top where the place of its last block is. \pre the mutex is held.
/// \returns false when memory is refused.
bool grow_cached_blocks_locked(CachedBlocks& cached, void**& top, std::uint32_t capacity);
void end_cached_blocks(CachedBlocks& cached);

/// Puts an array in the list of an owner. \pre the mutex is held.
inline void add_cached_blocks_locked(SlabOwner& owner, CachedBlocks& cached) {
  cached.next = owner.cached_blocks;
  owner.cached_blocks = &cached;
}

}  // namespace tarn::internal
