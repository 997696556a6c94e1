// The slots of a HandlePool: where its objects lie, the generation of each slot, and which slots are free.
//
// Slots come in chunks of 2^n, with the objects side by side in slot order and the generations in a record
// apart, which stays while the pool lives. A generation is odd while its slot holds an object. Free slots
// lie in a stack; a thread of several has some in a magazine of its own (pool/handle_slots.cc).
//
// Invariant: every usable slot with an even generation is in the stack or a magazine, on its way between
// them, or retired, because its generation has reached the last one.
// Threads: any. While the process has one thread, the inlined paths use the stack without a lock.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tarn/detail/mutex.h"

namespace TARN_NAMESPACE::detail {

struct HandlePoolState;

struct HandleChunk {
  std::atomic<char*>
      objects;  // of its first slot; nullptr: given back, or each object is a block of malloc's
  std::uint32_t first_slot;
  std::uint32_t usable_count;  // slots; the others are never taken
  std::uint32_t free_count;    // scratch of release_unused
  std::uint32_t retired_count;
  std::size_t span_bytes;
  std::atomic<void*>* blocks;  // of malloc, one per slot; nullptr: objects lie side by side

  std::atomic<std::uint32_t>* generations() {
    return reinterpret_cast<std::atomic<std::uint32_t>*>(this + 1);
  }
  TARN_INLINE char* object(std::uint32_t index, std::size_t stride) const {
    char* const first = objects.load(std::memory_order_relaxed);
    if (first == nullptr) [[unlikely]]
      return blocks != nullptr ? static_cast<char*>(blocks[index].load(std::memory_order_relaxed)) : nullptr;
    return first + index * stride;
  }
};

/// What the inlined paths read and write; all else lies behind `state`.
struct HandleFront {
  static constexpr std::uint32_t kMostSlots = std::uint32_t{1} << 22;
  static constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};
  static constexpr std::uint32_t kLastGeneration = ~std::uint32_t{0} - 2;  // of an object
  static constexpr std::uint32_t kRetired = kLastGeneration + 1;

  std::uint32_t* free_top;  // behind the slot that is taken next
  std::uint32_t* free_slots;
  std::atomic<HandleChunk**> chunks;  // a larger array takes its place; the old one stays
  std::atomic<std::uint32_t> slot_count;
  bool is_over_malloc;
  HandlePoolState* state;
  const void* checked_as;  // the pool's name for memory checkers

  /// \pre slot < slot_count. \tparam kShift chunks have 2^kShift slots.
  template <unsigned kShift>
  TARN_INLINE HandleChunk& chunk(std::uint32_t slot) const {
    return *chunks.load(std::memory_order_acquire)[slot >> kShift];
  }
};

struct HandlePoolType {
  std::size_t bytes;
  std::size_t stride;
  std::size_t alignment;
  unsigned shift;
  void (*destroy)(void* object) noexcept;
  bool poisons;
};

/// 2^result slots are in a chunk: 64 KiB of objects, at least 4.
constexpr unsigned handle_chunk_shift(std::size_t stride) {
  unsigned shift = 2;
  while (shift < 10 && (stride << (shift + 1)) <= 64 * 1024) ++shift;
  return shift;
}

/// Moves bit i of the lower half to bit 2 * i. \pre the upper half is 0.
constexpr std::uint64_t spread_bits(std::uint64_t bits) {
  bits = (bits | bits << 16) & 0x0000ffff0000ffffu;
  bits = (bits | bits << 8) & 0x00ff00ff00ff00ffu;
  bits = (bits | bits << 4) & 0x0f0f0f0f0f0f0f0fu;
  bits = (bits | bits << 2) & 0x3333333333333333u;
  return (bits | bits << 1) & 0x5555555555555555u;
}

/// A walk over the live slots, chunk by chunk in address order; meanwhile the pool keeps its chunks.
class HandleWalk {
 public:
  TARN_API explicit HandleWalk(HandleFront& front) noexcept;
  TARN_API ~HandleWalk();
  HandleWalk(const HandleWalk&) = delete;
  HandleWalk& operator=(const HandleWalk&) = delete;

  /// Goes to the next chunk; where blocks are malloc's, to the next `place_count` of `places`, in the order
  /// of their addresses. \returns false behind the last one.
  TARN_API bool advance() noexcept;

  struct Place {
    const void* object;
    std::uint32_t slot;
  };
  static constexpr unsigned kMostPlaces = 128;

  bool prefetches = false;  // the pool is large
  HandleChunk* chunk = nullptr;
  std::uint32_t place_count = 0;
  Place places[kMostPlaces];

 private:
  HandleFront& front_;
  std::uint32_t position_ = 0;  // of the chunk, when it was found
  std::uintptr_t last_ = 0;     // the address of the last first object, or of the last place
};

/// \returns false when memory is refused.
TARN_API bool make_handle_pool(HandleFront& front, const char* name, bool reports, bool destroys,
                               std::size_t initial_count, const HandlePoolType& type) noexcept;
TARN_API void end_handle_pool(HandleFront& front) noexcept;
/// \returns a free slot that has memory; kNoSlot when memory is refused or all slots are taken.
TARN_API std::uint32_t take_handle_slot(HandleFront& front) noexcept;
/// \pre the slot's generation is even, and its object has ended.
TARN_API void give_back_handle_slot(HandleFront& front, std::uint32_t slot) noexcept;
TARN_API void retire_handle_slot(HandleFront& front, std::uint32_t slot) noexcept;
TARN_API std::size_t handle_pool_live_count(const HandleFront& front) noexcept;
TARN_API std::size_t handle_pool_prewarm(HandleFront& front, std::size_t count) noexcept;
TARN_API std::size_t handle_pool_release_unused(HandleFront& front) noexcept;
/// Ends the process with the pool's name and the handle.
[[noreturn]] TARN_API void stop_at_stale_handle(const HandleFront& front, std::uint32_t slot,
                                                std::uint32_t generation) noexcept;

}  // namespace TARN_NAMESPACE::detail
