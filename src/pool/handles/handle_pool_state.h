// The library's record of a HandlePool: a pool of blocks (block_pool_state.h) whose blocks are the words of
// its slots, and the groups of these, with memory for objects.
//
// Invariant: slot_count_of(front) is the slots of `group_count` groups; `objects` has the memory of groups
// that have some, mapped_bytes in all. For the slabs a slot is free when its group has memory and it is in no
// magazine or depot, has no object, and is not retired; the slots of groups without memory, and those that no
// group has yet, are taken: so every slot that a thread takes has memory.
// Threads: any. The mutex guards the groups and their memory; the owner's mutex is held too where slots are
// offered or withdrawn.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "page/give_back/returned_pages.h"
#include "pool/blocks/block_pool_state.h"
#include "tarn/detail/handle_slots.h"

namespace tarn::internal {

inline constexpr const char* kHandlePoolKind = "handle pool";

}  // namespace tarn::internal

namespace TARN_NAMESPACE::detail {

/// An array of groups; readers may still use one that a larger has replaced.
struct GroupArray {
  HandleGroup* groups = nullptr;
  std::uint32_t room = 0;
};

struct HandlePoolState : BlockPoolState {
  static constexpr unsigned kGrowths = 24;
  static constexpr unsigned kMakers = kNoMaker + 1;

  HandlePoolType type{};
  bool reports = false;
  bool destroys = false;
  bool has_ended = false;  // handed its objects over
  HandleFront* front = nullptr;
  HandleFront last_front{};  // once the pool has ended
  GroupArray arrays[kGrowths];
  unsigned array_count = 0;
  std::uint32_t group_count = 0;
  std::uint32_t first_without_memory = 0;  // groups below it that have slots have memory
  std::uint32_t words_left = 0;            // of the last slab, which no group has yet
  SlotWord* next_words = nullptr;          // the first of these
  std::size_t left_live = 0;               // of what was handed over
  std::uint32_t colour = 0;                // lines before the next group's first object
  internal::List<internal::Span> objects{};
  std::size_t mapped_bytes = 0;
  Atomic<std::uint8_t> makers_alone[kMakers] = {};
  // Makers that were seen outside since they lost the right: any thread ends their objects by an exchange.
  std::atomic<bool> is_shared[kMakers] = {};
};

/// \returns the count that grows.
inline Atomic<std::uint32_t>& slot_count_of(HandleFront& front) {
  return front.is_over_malloc ? front.malloc_slot_count : front.slot_count;
}
inline std::uint32_t slots_per_group(const HandlePoolState& state) {
  return std::uint32_t{1} << state.type.shift;
}
inline HandleGroup& group_at(const HandlePoolState& state, std::uint32_t number) {
  return state.front->groups.load(std::memory_order_acquire)[number];
}
inline HandleGroup& group_of_slot(const HandlePoolState& state, std::uint32_t slot) {
  return group_at(state, slot >> state.type.shift);
}
inline std::uint32_t index_of_slot(const HandlePoolState& state, std::uint32_t slot) {
  return slot & (slots_per_group(state) - 1);
}
inline SlotWord& word_of_slot(const HandlePoolState& state, std::uint32_t slot) {
  return group_of_slot(state, slot).words.load(std::memory_order_relaxed)[index_of_slot(state, slot)];
}
inline bool has_object(const SlotWord& word) {
  return (generation_of(word.load(std::memory_order_acquire)) & 1) != 0;
}
/// \returns where the block of malloc's is named that is the object of a slot. \pre its group has memory.
inline std::atomic<void*>& block_of_malloc(const HandlePoolState& state, std::uint32_t slot) {
  char* const objects = group_of_slot(state, slot).objects.load(std::memory_order_relaxed);
  return reinterpret_cast<std::atomic<void*>*>(objects)[index_of_slot(state, slot)];
}
/// \returns the object of a slot, or the place for it. \pre its group has memory.
inline void* object_of_slot(const HandlePoolState& state, std::uint32_t slot) {
  if (state.front->is_over_malloc) return block_of_malloc(state, slot).load(std::memory_order_relaxed);
  char* const objects = group_of_slot(state, slot).objects.load(std::memory_order_relaxed);
  return objects + index_of_slot(state, slot) * state.type.stride;
}
// A span of objects keeps what its group is in fields that only slabs use otherwise.
inline SlotWord* words_of(const internal::Span& objects) { return static_cast<SlotWord*>(objects.pool_data); }
inline std::uint32_t number_of_group(const internal::Span& objects) { return objects.free_count; }

/// Calls visit(word) for each word of the slots of a group.
template <typename Visit>
void for_each_word(const HandlePoolState& state, SlotWord* words, const Visit& visit) {
  for (std::uint32_t i = 0; i < slots_per_group(state); ++i) visit(words[i]);
}
/// The same for all groups.
template <typename Visit>
void for_each_word(const HandlePoolState& state, const Visit& visit) {
  for (std::uint32_t i = 0; i < state.group_count; ++i)
    for_each_word(state, group_at(state, i).words.load(std::memory_order_relaxed), visit);
}

/// Gives tests access to a pool.
struct HandlePoolAccess {
  template <typename Pool>
  static HandleFront& front(Pool& pool) {
    return pool.front_;
  }
  template <typename Pool>
  static HandlePoolState& state(Pool& pool) {
    return *pool.front_.state;
  }
};

// Of groups (handle_groups.cc).

/// Gives a group memory, and its slots to the slabs. \pre the mutex is held. \returns false when memory is
/// refused, or there are as many slots as may be.
bool add_free_slots_locked(HandlePoolState& state);
/// Gives back the memory of groups that have all slots in slabs. \pre the mutex is held. \returns bytes.
std::size_t release_unused_groups_locked(HandlePoolState& state, internal::ReturnedPages& returned);
/// The same of one group of a pool that has handed its objects over.
void end_group_if_dead_locked(HandlePoolState& state, internal::Span* objects,
                              internal::ReturnedPages& returned);
/// Frees what groups have; there are none any more. \pre the mutex is held, and no object is live.
void end_groups_locked(HandlePoolState& state, internal::ReturnedPages& returned);
/// \returns how many slots of a group, and of a pool, may be used.
std::uint32_t usable_slots(const HandlePoolState& state);
std::uint32_t most_slots(const HandlePoolType& type);

// Of slots (handle_slots.cc).

/// Gives the memory of groups without objects back. \returns bytes.
std::size_t release_unused_slots(HandlePoolState& state, internal::ReturnedPages& returned);
/// Overwrites an object that has ended; it may be poisoned. Does nothing unless the pool is sensitive.
void wipe_if_sensitive(const HandlePoolState& state, void* object);
/// Frees the block of an object that has ended. \pre blocks are malloc's.
void free_object_of_malloc(HandlePoolState& state, std::uint32_t slot);

/// Stops the process when the invariant is broken. \pre no other thread uses the pool.
void validate(HandlePoolState& state);

}  // namespace TARN_NAMESPACE::detail
