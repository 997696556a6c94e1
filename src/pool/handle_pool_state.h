// The library's record of a HandlePool.
//
// Invariant: slot_count_of(front) is the sum over all chunks of 2^shift; `order` has the chunks with memory,
// by the address of their objects; `chunks` has all, by their first slot. Usable slots of chunks with memory
// are live, retired, in the stack, in a magazine, or on their way.
// Threads: any; all below is under the mutex, but for what a process of one thread does. Magazines belong to
// the thread that has their heap.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "general/pool_header.h"
#include "pool/wipe_block.h"
#include "tarn/detail/handle_slots.h"
#include "thread/heap_record.h"

namespace tarn::internal {

inline constexpr const char* kHandlePoolKind = "handle pool";

}  // namespace tarn::internal

namespace TARN_NAMESPACE::detail {

/// A table of pointers or slots; readers may still use one that a larger has replaced.
struct HandleArray {
  void* start = nullptr;
  std::size_t bytes = 0;
};

struct HandlePoolState : internal::PoolHeader {
  static constexpr unsigned kMagazines = kNumberedThreads + 1;  // threads without a number use the mutex
  static constexpr unsigned kGrowths = 24;

  HandlePoolType type{};
  bool reports = false;
  bool destroys = false;
  bool has_ended = false;  // handed its objects over
  HandleFront* front = nullptr;
  HandleFront last_front{};               // once the pool has ended
  std::uint32_t magazine_slots = 0;       // of a magazine; half of it moves at a time
  std::uint64_t* free_handles = nullptr;  // the stack, with a free slot as the handle of its next object
  std::uint64_t* free_top = nullptr;      // behind the one that is taken next
  std::uint32_t chunk_count = 0;
  std::uint32_t chunks_made = 0;  // chooses the next colour
  std::uint32_t order_count = 0;
  std::uint32_t walks = 0;  // meanwhile no chunk loses its memory
  std::size_t mapped_bytes = 0;
  std::atomic<std::size_t> refusals{0};  // calls that got no slot
  HandleChunk** order = nullptr;
  HandleArray stack;
  HandleArray chunk_arrays[kGrowths];  // the last one has `chunks`, and `order` behind it
  unsigned chunk_array_count = 0;
  std::uint32_t chunk_room = 0;
  std::atomic<HandleMagazine*> magazines[kMagazines] = {};
};

/// What threads without a magazine have: it is empty and full. Never written.
struct NoHandleMagazine {
  constexpr NoHandleMagazine() : magazine{.top = &end, .limit = &end} {}

  HandleMagazine magazine;
  std::uint64_t end = 0;
};
extern NoHandleMagazine no_handle_magazine;

/// \returns nullptr when the thread of this number has none.
inline HandleMagazine* magazine_of(const HandlePoolState& state, std::uint32_t number) {
  HandleMagazine* const magazine = state.magazines[number].load(std::memory_order_acquire);
  return magazine != &no_handle_magazine.magazine ? magazine : nullptr;
}

/// \returns the count that grows.
inline std::atomic<std::uint32_t>& slot_count_of(HandleFront& front) {
  return front.is_over_malloc ? front.malloc_slot_count : front.slot_count;
}

inline std::size_t count_of(HandleMagazine& magazine) {
  return static_cast<std::size_t>(magazine.top.load(std::memory_order_relaxed) - magazine.places());
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

/// Gives the memory of chunks without objects back. \returns bytes.
std::size_t release_unused_slots(HandlePoolState& state, internal::ReturnedPages& returned);

/// Overwrites an object that has ended; it may be poisoned. Does nothing unless the pool is sensitive.
inline void wipe_if_sensitive(const HandlePoolState& state, void* object) {
  if (state.is_sensitive) internal::wipe_block(object, state.type.bytes, state.type.poisons);
}

/// Frees the block of an object. \pre blocks are malloc's.
void free_object_of_malloc(HandlePoolState& state, HandleChunk& chunk, std::uint32_t index);

/// At the pool's end.
void end_magazines(HandlePoolState& state);

/// Stops the process when the invariant is broken. \pre no other thread uses the pool.
void validate(HandlePoolState& state);

}  // namespace TARN_NAMESPACE::detail
