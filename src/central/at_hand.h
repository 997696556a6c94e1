// What pools have at hand themselves (AtHand, slab_owner.h), for all who count and name free blocks.
//
// Threads: with the owner's mutex. The pool's one thread may take and free blocks meanwhile: then a block it
// has just taken may be visited, and one it has just freed may not.
#pragma once
#include "base/bitmap.h"
#include "central/slab_owner.h"

namespace tarn::internal {

/// \returns how many blocks the owner's pool has at hand.
inline std::size_t at_hand_count(const SlabOwner& owner) {
  std::size_t blocks = 0;
  for (const AtHand* at_hand = owner.at_hand; at_hand != nullptr; at_hand = at_hand->next)
    blocks += std::size_t{at_hand->count()} * at_hand->run_length;
  return blocks;
}

/// Calls visit(block) for each of these.
template <typename Visit>
void visit_at_hand(const SlabOwner& owner, const Visit& visit) {
  for (const AtHand* at_hand = owner.at_hand; at_hand != nullptr; at_hand = at_hand->next)
    for (std::uint32_t i = 1, count = at_hand->count(); i <= count; ++i) {
      char* const first = static_cast<char*>(__atomic_load_n(at_hand->slots + i, __ATOMIC_RELAXED));
      for (std::uint32_t k = 0; first != nullptr && k < at_hand->run_length; ++k)
        visit(first + std::size_t{k} * owner.geometries[0].stride);
    }
}

/// The next free of each pool's one thread shall be slow.
inline void ring_at_hand(const SlabOwner& owner) {
  for (const AtHand* at_hand = owner.at_hand; at_hand != nullptr; at_hand = at_hand->next)
    if (at_hand->limit != nullptr) __atomic_store_n(at_hand->limit, nullptr, __ATOMIC_RELAXED);
}

/// The owner's pool ends, or is gone with a thread's stack.
inline void forget_at_hand(SlabOwner& owner) {
  os::LockGuard guard(owner.mutex);
  owner.at_hand = nullptr;
}

/// Gives an array more room. \param top where the place of its last block is. \pre the mutex is held.
/// \returns false when memory is refused.
bool grow_at_hand_locked(AtHand& at_hand, void**& top, std::uint32_t capacity);
void end_at_hand(AtHand& at_hand);

/// Puts an array in the list of an owner. \pre the mutex is held.
inline void add_at_hand_locked(SlabOwner& owner, AtHand& at_hand) {
  at_hand.next = owner.at_hand;
  owner.at_hand = &at_hand;
}

}  // namespace tarn::internal
