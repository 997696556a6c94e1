// The slots of a HandlePool: where its objects lie, the generation of each slot, and which slots are free.
//
// Slots come in chunks of 2^n, with the objects side by side in slot order and the generations in a record
// apart, which stays while the pool lives. A generation is odd while its slot holds an object. Free slots
// lie in a stack; each thread has some in a magazine of its own (pool/handle_slots.cc).
//
// Of several threads that end one object, one must succeed. An atomic exchange would see to it, and take as
// long as all else. So a slot names the thread that made its object, and as long as each object is ended by
// the thread that made it, that thread compares and stores the generation plainly, with a mark that it is
// inside (owner_lock.h). The first other thread that ends one of its objects takes that right from it, for
// good: it waits until the thread is outside, and from then on all end that thread's objects by an exchange
// (idea: the biased locks of K. Kawachiya, A. Koseki, T. Onodera, "Lock Reservation", 2002).
//
// Invariant: every usable slot with an even generation is in the stack or a magazine, on its way between
// them, or retired, because its generation has reached the last one. A generation is changed by the thread
// that has the slot, or by who ends its object: by a plain store only inside of the mark of the thread that
// the slot names, while `ends_alone` of its magazine is its number.
// A chunk whose memory was given back has no slot in the stack; slots on their way when a process forks are
// lost to the child.
// Threads: any. A magazine is its thread's, but for `ends_alone` and `is_shared`; others read its mark.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tarn/detail/mutex.h"
#include "tarn/detail/owner_lock.h"
#include "tarn/detail/quiet_load.h"
#include "tarn/detail/thread_cache.h"

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
  /// The numbers of the threads that made the slots' objects; 0: a thread without a magazine.
  TARN_INLINE std::atomic<std::uint8_t>* makers(unsigned shift) {
    return reinterpret_cast<std::atomic<std::uint8_t>*>(generations() + (std::size_t{1} << shift));
  }
  TARN_INLINE char* object(std::uint32_t index, std::size_t stride) const {
    char* const first = objects.load(std::memory_order_relaxed);
    if (first != nullptr) [[likely]]
      return first + index * stride;
    return blocks != nullptr ? static_cast<char*>(block(index)) : nullptr;
  }
  /// \pre each object is a block of malloc's.
  TARN_INLINE void* block(std::uint32_t index) const { return blocks[index].load(std::memory_order_relaxed); }
};

/// Free slots of one thread, each as the handle that its next object gets; they lie behind the record, above
/// a 0 that marks the end. Invariant: places() <= top <= limit.
struct alignas(64) HandleMagazine {
  static constexpr std::uint32_t kMostSlots = 256;
  static constexpr std::uint32_t kNobody = 256;

  std::atomic<std::uint64_t*> top;  // the slot that is taken next; a fork may copy it at any moment
  std::uint64_t* limit;             // the last place
  const OwnerFences* fences = nullptr;
  std::atomic<std::uint32_t> ends_alone{0};  // the thread's number; kNobody: others end its objects too
  std::uint8_t number = 0;                   // of the thread
  std::atomic<bool> is_shared{false};        // others may: the thread has been seen outside since
  OwnerMark mark{};

  std::uint64_t* places() { return reinterpret_cast<std::uint64_t*>(this + 1); }
  /// \returns 0 when there is none.
  TARN_INLINE std::uint64_t pop() {
    std::uint64_t* const place = top.load(std::memory_order_relaxed);
    const std::uint64_t handle = *place;
    if (handle != 0) [[likely]]
      top.store(place - 1, std::memory_order_release);
    return handle;
  }
  /// \pre place is top, and not the limit.
  TARN_INLINE void push(std::uint64_t* place, std::uint64_t handle) {
    place[1] = handle;
    top.store(place + 1, std::memory_order_release);
  }
};

/// A handle as one word: the slot in its lower half.
constexpr std::uint64_t handle_word(std::uint32_t slot, std::uint32_t generation) {
  return std::uint64_t{generation} << 32 | slot;
}
constexpr std::uint32_t slot_of(std::uint64_t handle) { return static_cast<std::uint32_t>(handle); }
constexpr std::uint32_t generation_of(std::uint64_t handle) {
  return static_cast<std::uint32_t>(handle >> 32);
}

/// A free slot, as the handle that its next object gets, and the memory for it; nullptr: there is none.
struct HandlePlace {
  std::uint64_t handle;
  void* memory;
};

/// What the inlined paths read; all else lies behind `state`.
struct HandleFront {
  static constexpr std::uint32_t kMostSlots = std::uint32_t{1} << 22;
  static constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};
  static constexpr std::uint32_t kLastGeneration = ~std::uint32_t{0} - 2;  // of an object
  static constexpr std::uint32_t kRetired = kLastGeneration + 1;

  std::atomic<HandleMagazine*>* magazines;  // by the numbers of threads; never null, the first is never there
  std::atomic<HandleChunk**> chunks;        // a larger array takes its place; the old one stays
  std::atomic<std::uint32_t> slot_count;    // of slots whose objects lie side by side
  std::atomic<std::uint32_t> malloc_slot_count;  // of those whose objects are malloc's; one of both is 0
  bool is_over_malloc;                           // then there are no magazines
  HandlePoolState* state;
  const void* checked_as;  // the pool's name for memory checkers

  /// \pre slot < slot_count + malloc_slot_count. \tparam kShift chunks have 2^kShift slots.
  template <unsigned kShift>
  TARN_INLINE HandleChunk& chunk(std::uint32_t slot) const {
    HandleChunk** const table = load_quietly(chunks);
    return *table[slot >> kShift];
  }
  /// \returns an empty and full one when the thread has none, or its calls must all take the slow door.
  TARN_INLINE HandleMagazine& magazine() const {
    return *magazines[own_cache()->thread_number].load(std::memory_order_relaxed);
  }
};

/// Ends the object of a handle if it is live and the calling thread's alone to end, and leaves the mark.
/// \returns whether it was. \pre the thread is inside of the mark of its magazine.
TARN_INLINE bool end_object_inside(HandleMagazine& magazine, std::atomic<std::uint32_t>& generation,
                                   const std::atomic<std::uint8_t>& maker, std::uint32_t live) {
  // The generation first: while it is this one, the slot names its object's maker.
  const bool is_own =
      generation.load(std::memory_order_acquire) == live &&
      maker.load(std::memory_order_relaxed) == magazine.ends_alone.load(std::memory_order_acquire);
  if (is_own) [[likely]]
    generation.store(live + 1, std::memory_order_release);
  magazine.mark.leave();
  return is_own;
}

/// The same without a call, for the path of a hit: false also where the thread needs a fence, or where no
/// handle may be live behind this one.
TARN_INLINE bool end_object_at_once(HandleMagazine& magazine, std::atomic<std::uint32_t>& generation,
                                    const std::atomic<std::uint8_t>& maker, std::uint32_t live) {
  if (live == HandleFront::kLastGeneration) [[unlikely]]
    return false;
  if (!ProgramGuard::is_needed()) {
    if (generation.load(std::memory_order_relaxed) != live) [[unlikely]]
      return false;
    generation.store(live + 1, std::memory_order_relaxed);
    return true;
  }
  if (!magazine.mark.enter_at_once(*magazine.fences)) [[unlikely]] {
    magazine.mark.leave();
    return false;
  }
  return end_object_inside(magazine, generation, maker, live);
}

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
                               bool is_sensitive, std::size_t initial_count,
                               const HandlePoolType& type) noexcept;
TARN_API void end_handle_pool(HandleFront& front) noexcept;
/// \returns a free slot with memory for its object; nothing when memory is refused or all slots are taken.
TARN_API HandlePlace take_handle_slot(HandleFront& front) noexcept;
/// Makes a slot free again, or retires it. \pre its generation is even, and its object has ended.
TARN_API void give_back_handle_slot(HandleFront& front, std::uint32_t slot) noexcept;
/// Ends the life of an object. \returns the object, whose destructor the caller runs; nullptr when it had
/// ended before.
TARN_API void* end_handle_object(HandleFront& front, std::uint64_t handle) noexcept;
TARN_API std::size_t handle_pool_live_count(const HandleFront& front) noexcept;
TARN_API std::size_t handle_pool_prewarm(HandleFront& front, std::size_t count) noexcept;
TARN_API std::size_t handle_pool_release_unused(HandleFront& front) noexcept;
/// Ends the process with the pool's name and the handle.
[[noreturn]] TARN_API void stop_at_stale_handle(const HandleFront& front, std::uint32_t slot,
                                                std::uint32_t generation) noexcept;

}  // namespace TARN_NAMESPACE::detail
