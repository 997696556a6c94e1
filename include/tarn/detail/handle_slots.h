// The slots of a HandlePool: which generation each is in, and where its object lies.
//
// slot    a word: a generation, the thread that made the object, and the slot's own number. A generation is
//         odd while the slot holds an object. The words of a pool are blocks of 8 bytes of its size class:
//         threads have them in magazines as blocks of any class, except that no slab of them ends, or is
//         given back, while the pool exists: old handles are compared with them.
// group   2^n slots side by side, and memory for as many objects side by side, in the order of the slots.
//         The memory of a group without objects may go back; then its slots are no thread's until it has some
//         again.
//
// Of several threads that end one object, one must succeed. An atomic exchange would see to it, and take as
// long as all else. So a word names the thread that made its object, and as long as each object is ended by
// the thread that made it, that thread compares and stores the word plainly, with a mark that it is inside
// (owner_lock.h). The first other thread that ends one of its objects takes that right from it, for good: it
// waits until the thread is outside, and from then on all end that thread's objects by an exchange (idea: the
// biased locks of K. Kawachiya, A. Koseki, T. Onodera, "Lock Reservation", 2002).
//
// Invariant: a word is 0 when its slot is not used, or no more: the last slot of a group, if the objects
// begin some lines later and leave no room for it; a slot at its last generation; one with an object freed by
// address. Else it has the slot's number; its generation is changed by the thread that has the free slot, or
// by the thread that ends its object: beside other threads by a plain store only inside of the mark of the
// thread that the word names, while `makers_alone` has its number. A slot that a thread takes has memory.
// Threads: any.
#pragma once
#include <cstddef>
#include <cstdint>

#include "tarn/detail/atomic.h"
#include "tarn/detail/live_walk.h"
#include "tarn/detail/mutex.h"
#include "tarn/detail/owner_lock.h"
#include "tarn/detail/thread_cache.h"

namespace TARN_NAMESPACE::detail {

struct HandlePoolState;

/// An atomic load that is one instruction and no more: it happens when and as often as the program says. Of
/// what the storing thread had written before, only what is read through a value loaded quietly behind this
/// one is sure to be seen: no other access of the program's is in any order with it. \tparam T 4 or 8 bytes.
/// \why g++ takes each atomic load, also a relaxed one, for a write to all memory: a loop around it loads
/// again, at each step, what any other function might know of. A loop that gets objects by their handles
/// takes 2.7 ns a step with atomic loads and 2.2 ns with these (docs/decisions/047-handles-over-a-class.md).
template <typename T>
TARN_INLINE T load_quietly(const Atomic<T>& word) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
#if defined(TARN_LOAD_QUIETLY)
  T value;
  TARN_LOAD_QUIETLY(value, word);
  return value;
#else
  return word.load(kAcquire);
#endif
}

/// The same of half of a word. \why the half: an instruction less than to shift it down.
TARN_INLINE std::uint32_t load_upper_half_quietly(const Atomic<std::uint64_t>& word) {
#if defined(TARN_LOAD_QUIETLY)
  using Half TARN_MAY_ALIAS = std::uint32_t;
  std::uint32_t value;
  TARN_LOAD_QUIETLY(value, reinterpret_cast<const Half*>(&word)[1]);
  return value;
#else
  return static_cast<std::uint32_t>(word.load(kAcquire) >> 32);
#endif
}

/// \returns the mark that a thread ends an object that it made. \why not declared so: the cache knows no
/// pools.
TARN_INLINE OwnerMark& mark_of(ThreadCache& cache) {
  static_assert(sizeof(OwnerMark) == sizeof cache.ends_handles);
  return reinterpret_cast<OwnerMark&>(cache.ends_handles);
}

/// From the lowest bit: the number of the slot, the maker of its object, the generation.
using SlotWord = Atomic<std::uint64_t>;

inline constexpr unsigned kSlotBits = 24;
inline constexpr std::uint32_t kMostSlots = std::uint32_t{1} << kSlotBits;
inline constexpr std::uint64_t kOneGeneration = std::uint64_t{1} << 32;
/// The maker of a free slot's word, and no thread's. A thread without a number makes objects as 0.
inline constexpr std::uint64_t kNoMaker = kNumberedThreads + 1;
static_assert(kNoMaker == 255);

constexpr std::uint64_t maker_bits(std::uint64_t maker) { return maker << kSlotBits; }
constexpr std::uint32_t maker_of(std::uint64_t word) { return static_cast<std::uint32_t>(word) >> kSlotBits; }
/// A word without its maker is the handle of its object: the slot in its lower half.
constexpr std::uint64_t handle_of(std::uint64_t word) { return word & ~maker_bits(kNoMaker); }
/// \returns the handle of the next object of a free slot.
constexpr std::uint64_t next_handle(std::uint64_t free_word) {
  return free_word + (kOneGeneration - maker_bits(kNoMaker));
}
/// \returns the word of a slot whose object has ended.
constexpr std::uint64_t ended_word(std::uint64_t handle) {
  return handle + (kOneGeneration + maker_bits(kNoMaker));
}
constexpr std::uint32_t slot_of(std::uint64_t handle) { return static_cast<std::uint32_t>(handle); }
constexpr std::uint32_t generation_of(std::uint64_t handle) {
  return static_cast<std::uint32_t>(handle >> 32);
}

/// \returns the generation of a slot, by a quiet load.
TARN_INLINE std::uint32_t load_generation(const SlotWord& word) { return load_upper_half_quietly(word); }

/// Which of up to 64 neighbours are live, as the bits of a word. \returns bit i of the result from bit 32 of
/// word i. \pre count is at most 64.
TARN_INLINE std::uint64_t bits_of_words(const void* words, std::uint32_t count) {
  const auto* const from = static_cast<const std::uint64_t*>(words);
  std::uint64_t bits = 0;
  for (std::uint32_t i = count; i-- > 0;) bits = bits * 2 + (atomic_load(from + i, kRelaxed) >> 32 & 1);
  return bits;
}

#if defined(TARN_HAS_VECTORS)
// Others may write meanwhile; each generation is read once, whole.
TARN_INLINE std::uint64_t bits_of_64_words(const void* words) {
  const auto* const from = static_cast<const char*>(words);
  std::uint64_t bits = 0;
  for (unsigned i = 0; i < 4; ++i) {
    // The upper halves of four words, their lowest bits where a sign is.
    const auto four = [&](unsigned k) {
      const auto low = load_four(from + 128 * i + 32 * k), high = load_four(from + 128 * i + 32 * k + 16);
      return FourNumbers{low[1], low[3], high[1], high[3]} << 31;
    };
    const std::uint32_t signs = signs_of(halves_of(four(0), four(1)), halves_of(four(2), four(3)));
    bits |= std::uint64_t{signs} << 16 * i;
  }
  return bits;
}
#else
TARN_INLINE std::uint64_t bits_of_64_words(const void* words) { return bits_of_words(words, 64); }
#endif

struct HandleGroup {
  Atomic<SlotWord*> words;
  Atomic<char*> objects;  // nullptr: there is no memory; over malloc, an array of pointers to objects
};

/// A free slot that was taken, as the handle of its next object, and memory for it; nullptr: there is none.
struct HandlePlace {
  std::uint64_t handle;
  void* memory;
};

/// What the inlined paths read; all else lies behind `state`.
struct HandleFront {
  static constexpr std::uint32_t kLastGeneration = ~std::uint32_t{0} - 2;  // of an object

  RecordPlace place;                        // of each thread's free slots; kNone: every call is slow
  Atomic<HandleGroup*> groups;              // a larger array takes its place; the old one stays
  Atomic<std::uint32_t> slot_count;         // of groups; while objects lie side by side
  Atomic<std::uint32_t> malloc_slot_count;  // the same, while objects are malloc's; one of both is 0
  bool is_over_malloc;
  const OwnerFences* fences;
  const Atomic<std::uint8_t>* makers_alone;  // by the number of a thread: it, or kNoMaker
  HandlePoolState* state;
  const void* checked_as;  // the pool's name for memory checkers

  /// \pre slot < slot_count + malloc_slot_count. \tparam kShift groups have 2^kShift slots.
  template <unsigned kShift>
  TARN_INLINE HandleGroup& group_of(std::uint32_t slot) const {
    return load_quietly(groups)[slot >> kShift];
  }
};

/// Ends the object of a handle if it is live and the calling thread's alone to end, and leaves the mark.
/// \param own the thread's entry of makers_alone. \returns whether it was. \pre the thread is inside of the
/// mark of its cache.
TARN_INLINE bool end_object_inside(OwnerMark& mark, SlotWord& word, std::uint64_t handle,
                                   const Atomic<std::uint8_t>& own) {
  const bool is_own = word.load(kAcquire) == (handle | maker_bits(own.load(kAcquire)));
  if (is_own) [[likely]]
    word.store(ended_word(handle), kRelease);
  mark.leave();
  return is_own;
}

/// The same without a call, for the path of a hit: false also where the thread needs a fence, or where no
/// handle may be live behind this one. \pre the cache is the thread's own.
TARN_INLINE bool end_object_at_once(const HandleFront& front, ThreadCache& cache, SlotWord& word,
                                    std::uint64_t handle) {
  if (generation_of(handle) == HandleFront::kLastGeneration) [[unlikely]]
    return false;
  if (!ProgramGuard::is_needed()) {
    if (load_generation(word) != generation_of(handle)) [[unlikely]]
      return false;
    word.store(ended_word(handle), kRelaxed);
    return true;
  }
  OwnerMark& mark = mark_of(cache);
  if (mark.is_inside()) [[unlikely]]
    return false;  // this is a signal handler
  if (!mark.enter_at_once(*front.fences)) [[unlikely]] {
    mark.leave();
    return false;
  }
  return end_object_inside(mark, word, handle, front.makers_alone[cache.thread_number]);
}

struct HandlePoolType {
  std::size_t bytes;
  std::size_t stride;
  std::size_t alignment;
  unsigned shift;
  void (*destroy)(void* object) noexcept;
  bool poisons;
};

/// 2^result slots are in a group: 64 KiB of objects, at least 4.
constexpr unsigned handle_group_shift(std::size_t stride) {
  unsigned shift = 2;
  while (shift < 10 && (stride << (shift + 1)) <= 64 * 1024) ++shift;
  return shift;
}

/// A walk over the live slots, group by group, in the order of their objects' addresses; meanwhile the pool
/// keeps its memory.
class HandleWalk {
 public:
  TARN_API explicit HandleWalk(HandleFront& front) noexcept;
  TARN_API ~HandleWalk();
  HandleWalk(const HandleWalk&) = delete;
  HandleWalk& operator=(const HandleWalk&) = delete;

  /// Goes to the next group; where objects are malloc's, to the next `place_count` of `places`, in the order
  /// of their addresses. \returns false behind the last one.
  TARN_API bool advance() noexcept;

  bool prefetches = false;  // the pool is large
  SlotWord* words = nullptr;
  char* objects = nullptr;

  struct Place {
    void* object;
    SlotWord* word;
  };
  static constexpr unsigned kMostPlaces = 128;
  std::uint32_t place_count = 0;
  Place places[kMostPlaces];

 private:
  HandleFront& front_;
  alignas(void*) unsigned char order_[kOrderBytes];  // of the memory for objects
  std::uintptr_t last_ = 0;                          // the address of the last place
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
/// Ends an object. \returns the object: the caller runs its destructor; nullptr when it had ended before.
TARN_API void* end_handle_object(HandleFront& front, std::uint64_t handle) noexcept;
TARN_API std::size_t handle_pool_live_count(const HandleFront& front) noexcept;
TARN_API std::size_t handle_pool_prewarm(HandleFront& front, std::size_t count) noexcept;
TARN_API std::size_t handle_pool_release_unused(HandleFront& front) noexcept;
/// Ends the process with the pool's name and the handle.
[[noreturn]] TARN_API void stop_at_stale_handle(const HandleFront& front, std::uint32_t slot,
                                                std::uint32_t generation) noexcept;

}  // namespace TARN_NAMESPACE::detail
