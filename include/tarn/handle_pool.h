// Objects of one type that are reached by handles; a handle detects that its object has ended. Use it to
// find uses of ended objects, and for references that may outlive their object (an entity that another entity
// aims at).
//
// A handle is a slot and a generation. Each slot counts its generations; the count is odd while the slot
// holds an object. A handle is valid while its generation equals the slot's. The generations lie apart from
// the objects and stay there while the pool exists, so even an old handle can be checked. A slot that has
// reached the last generation (after 2^31 objects) is never used again: no handle is valid twice.
//
// Threads: any. get() takes no lock; another thread may still destroy the object right after.
// Errors: create throws std::bad_alloc. For a handle whose object has ended, get returns nullptr, destroy
// returns false, and at() stops the process with one line.
#pragma once
#include <bit>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <typeindex>  // std::hash
#include <utility>

#include "tarn/detail/atomic.h"
#include "tarn/detail/construct.h"
#include "tarn/detail/error.h"
#include "tarn/detail/handle_slots.h"
#include "tarn/detail/live_walk.h"
#include "tarn/detail/pool_name.h"
#include "tarn/hooks.h"
#include "tarn/object_pool.h"

namespace TARN_NAMESPACE {

/// Handle<T>() is the null handle, which never has an object. The order is total and means nothing but that:
/// by slot, then by generation; the null handle comes first.
template <typename T>
struct Handle {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;  // odd; 0 in the null handle

  explicit operator bool() const noexcept { return generation != 0; }
  friend bool operator==(const Handle&, const Handle&) = default;
  friend std::strong_ordering operator<=>(const Handle&, const Handle&) = default;
};

namespace detail {
struct HandlePoolAccess;
}  // namespace detail

template <typename T>
class HandlePool {
 public:
  static_assert(std::is_object_v<T> && !std::is_array_v<T>, "a pool of objects");
  static_assert(sizeof(T) <= detail::kMediumLimit && alignof(T) <= 4096,
                "objects up to 256 KiB, alignment up to 4 KiB");

  using value_type = T;

  /// \throws std::bad_alloc when memory is refused.
  TARN_LOCAL explicit HandlePool(const ObjectPoolOptions& options = {}) {
    if (!detail::make_handle_pool(front_, options.name.text(), options.at_end == AtPoolEnd::kReport,
                                  options.at_end == AtPoolEnd::kDestroy, options.sensitive,
                                  options.initial_count, kType))
      detail::throw_bad_alloc();
  }
  /// \param name any string, copied.
  template <std::convertible_to<PoolName> Name>
  TARN_LOCAL explicit HandlePool(const Name& name) : HandlePool(ObjectPoolOptions{.name = name}) {}
  /// \pre no other thread uses the pool any more. The option at_end decides the fate of live objects.
  TARN_LOCAL ~HandlePool() { detail::end_handle_pool(front_); }
  HandlePool(const HandlePool&) = delete;  // pools stay in place: std::deque, std::list, unique_ptr
  HandlePool& operator=(const HandlePool&) = delete;
  template <std::same_as<HandlePool> Moved>
  HandlePool(Moved&&) noexcept {
    detail::stop_at_move<Moved>();
  }

  /// \throws std::bad_alloc when memory is refused, or when of 16,777,216 slots none is left but those that
  /// other threads have cached; and what the constructor throws. \cost inlined: a hit of the thread's
  /// magazine, and the store of a word.
  template <typename... Arguments>
  [[nodiscard]] TARN_INLINE Handle<T> create(Arguments&&... arguments) {
    detail::ThreadCache* const cache = detail::own_cache();
    const FreeSlot slot = take_slot(cache);
    detail::annotate_allocation(front_.checked_as, slot.memory, sizeof(T));
    construct(slot.memory, detail::slot_of(slot.handle), std::forward<Arguments>(arguments)...);
    // Release: a thread that reads this generation also reads the object.
    slot.word->store(slot.handle | detail::maker_bits(cache->thread_number), detail::kRelease);
    const std::uint64_t handle = slot.handle;  // a reference to the member would keep it in memory
    return std::bit_cast<Handle<T>>(handle);
  }

  /// The same as create() for an object that is to be overwritten: what its type leaves out has no value yet.
  [[nodiscard]] TARN_INLINE Handle<T> create_for_overwrite() { return create(detail::ForOverwrite()); }

  /// \returns the object; nullptr when it has ended. What the thread that made the object had written before
  /// is seen through the pointer; nothing else is in any order with this call. \cost inlined: five loads.
  [[nodiscard]] TARN_INLINE T* get(Handle<T> handle) const noexcept {
    const auto word = std::bit_cast<std::uint64_t>(handle);
    if (!may_be_live(word, front_.slot_count)) [[unlikely]]
      return get_of_malloc(word);
    detail::HandleGroup& group = group_of(word);
    return is_live(group, word) ? object_at(group, word) : nullptr;
  }

  /// \returns the object; stops the process when it has ended.
  TARN_INLINE T& at(Handle<T> handle) const noexcept {
    T* const object = get(handle);
    if (object == nullptr) [[unlikely]]
      detail::stop_at_stale_handle(front_, handle.slot, handle.generation);
    return *object;
  }

  /// Destroys the object. \returns false when it had ended already: of several calls, one returns true.
  /// \cost as create; once other threads have ended objects of the thread that made this one, a call and an
  /// atomic exchange more.
  TARN_INLINE bool destroy(Handle<T> handle) noexcept {
    const auto word = std::bit_cast<std::uint64_t>(handle);
    detail::ThreadCache* const cache = detail::again(detail::own_cache());
    if (cache->thread_number == 0 || !may_be_live(word, front_.slot_count)) [[unlikely]]
      return destroy_slow(word);
    detail::HandleGroup& group = group_of(word);
    detail::SlotWord* const slot = word_in(group, word);
    if (!detail::end_object_at_once(front_, *cache, *slot, word)) [[unlikely]]
      return destroy_slow(word);
    if constexpr (!std::is_trivially_destructible_v<T> || detail::kTellsTools)
      run_destructor(object_at(group, word));
    // Another cache than before, if the destructor lets others hide the thread's records.
    if (!detail::push(detail::own_cache(), front_.place, slot)) [[unlikely]]
      detail::give_back_handle_slot(front_, detail::slot_of(word));
    return true;
  }

  /// Calls visit(Handle<T>, T&) for each live object, in address order. visit may destroy any objects and
  /// create new ones: an object destroyed before its turn is not visited, one created meanwhile may be.
  /// Meanwhile the pool gives no memory back. An exception of visit ends the walk.
  /// With other threads: an object that is live during the whole call is visited exactly once, none before
  /// its constructor has returned. \pre no other thread destroys an object that visit touches.
  /// \cost a step per live object, and a few per 64 slots.
  template <typename Visit>
  TARN_LOCAL void for_each_live(Visit&& visit) {
    detail::HandleWalk walk(front_);
    while (walk.advance()) front_.is_over_malloc ? visit_places(walk, visit) : visit_group(walk, visit);
  }

  /// \cost counts the slots.
  TARN_LOCAL std::size_t live_count() const noexcept { return detail::handle_pool_live_count(front_); }

  /// Makes backed memory for at least `count` more objects. \returns how many have memory.
  TARN_LOCAL std::size_t prewarm(std::size_t count) noexcept {
    return detail::handle_pool_prewarm(front_, count);
  }

  /// Gives the memory of groups of slots without objects back, but for those of which another running thread
  /// has cached slots; their generations stay. \returns bytes.
  TARN_LOCAL std::size_t release_unused() noexcept { return detail::handle_pool_release_unused(front_); }

 private:
  friend struct detail::HandlePoolAccess;

  static constexpr std::size_t kStride = sizeof(T);
  static constexpr unsigned kShift = detail::handle_group_shift(kStride);
  static constexpr std::uint32_t kSlots = std::uint32_t{1} << kShift;  // of a group
  static constexpr std::uint32_t kAtOnce = kSlots < 64 ? kSlots : 64;  // of a walk
  TARN_LOCAL static void destroy_object(void* object) noexcept { static_cast<T*>(object)->~T(); }
  static constexpr detail::HandlePoolType kType{sizeof(T), kStride,        alignof(T),
                                                kShift,    destroy_object, detail::kPoisonsFreeBlocks};

  TARN_INLINE detail::HandleGroup& group_of(std::uint64_t handle) const {
    return front_.group_of<kShift>(detail::slot_of(handle));
  }
  TARN_INLINE static std::uint32_t index_of(std::uint64_t handle) {
    return detail::slot_of(handle) & (kSlots - 1);
  }
  TARN_INLINE static detail::SlotWord* word_in(const detail::HandleGroup& group, std::uint64_t handle) {
    return detail::load_quietly(group.words) + index_of(handle);
  }
  TARN_INLINE static T* object_at(const detail::HandleGroup& group, std::uint64_t handle) {
    return as_object(detail::load_quietly(group.objects) + index_of(handle) * kStride);
  }

  TARN_INLINE static T* as_object(void* memory) { return std::launder(static_cast<T*>(memory)); }

  // Handles are words here: a compiler splits and joins their halves by vector instructions.
  TARN_INLINE static bool may_be_live(std::uint64_t handle, const detail::Atomic<std::uint32_t>& slot_count) {
    return (detail::generation_of(handle) & 1) != 0 &&
           detail::slot_of(handle) < detail::load_quietly(slot_count);
  }
  TARN_INLINE static bool is_live(const detail::HandleGroup& group, std::uint64_t handle) {
    return detail::load_generation(*word_in(group, handle)) == detail::generation_of(handle);
  }
  // \why no call: one that never happens would keep a loop's values of floating point in memory.
  TARN_INLINE T* get_of_malloc(std::uint64_t handle) const {
    if (!may_be_live(handle, front_.malloc_slot_count)) return nullptr;
    detail::HandleGroup& group = group_of(handle);
    if (!is_live(group, handle)) return nullptr;
    return as_object(object_of_malloc(group.objects.load(detail::kRelaxed), index_of(handle)));
  }
  TARN_INLINE static void* object_of_malloc(char* pointers, std::uint32_t index) {
    return detail::atomic_load(static_cast<void**>(static_cast<void*>(pointers)) + index, detail::kAcquire);
  }

  struct FreeSlot {
    std::uint64_t handle;  // of the object that is made now
    void* memory;
    detail::SlotWord* word;
  };

  TARN_INLINE FreeSlot take_slot(detail::ThreadCache* cache) {
    auto* const word = static_cast<detail::SlotWord*>(detail::pop(cache, front_.place));
    if (word != nullptr) [[likely]] {
      const std::uint64_t handle = detail::next_handle(word->load(detail::kRelaxed));
      return {handle, object_at(group_of(handle), handle), word};
    }
    const detail::HandlePlace place = take_slot_slow();
    return {place.handle, place.memory, word_in(group_of(place.handle), place.handle)};
  }
  // \why not as FreeSlot: two words are returned in registers.
  TARN_COLD TARN_NOINLINE TARN_LOCAL detail::HandlePlace take_slot_slow() {
    const detail::HandlePlace place = detail::take_handle_slot(front_);
    if (place.memory == nullptr) [[unlikely]]
      detail::throw_bad_alloc();
    return place;
  }

  TARN_COLD TARN_NOINLINE TARN_LOCAL bool destroy_slow(std::uint64_t handle) noexcept {
    T* const object = as_object(detail::end_handle_object(front_, handle));
    if (object == nullptr) return false;
    run_destructor(object);
    give_back(handle);
    return true;
  }
  TARN_INLINE void give_back(std::uint64_t handle) noexcept {
    const bool is_used_up = detail::generation_of(handle) == detail::HandleFront::kLastGeneration;
    if (is_used_up || !detail::push(detail::own_cache(), front_.place, word_in(group_of(handle), handle)))
        [[unlikely]]
      detail::give_back_handle_slot(front_, detail::slot_of(handle));
  }
  TARN_INLINE void run_destructor(T* object) noexcept {
    object->~T();
    detail::annotate_deallocation(front_.checked_as, object, sizeof(T));
  }

  /// \why not construct_at of detail: a type may make this class its friend, to have a private constructor.
  template <typename... Arguments>
  TARN_INLINE static T* construct_at(void* block, Arguments&&... arguments) {
    return ::new (block) T(std::forward<Arguments>(arguments)...);
  }
  TARN_INLINE static T* construct_at(void* block, detail::ForOverwrite&&) { return ::new (block) T; }

  template <typename... Arguments>
  TARN_INLINE void construct(void* memory, [[maybe_unused]] std::uint32_t slot, Arguments&&... arguments) {
#if defined(__cpp_exceptions)
    if constexpr (!detail::kIsMadeWithoutThrow<T, Arguments...>) {
      try {
        construct_at(memory, std::forward<Arguments>(arguments)...);
      } catch (...) {
        detail::annotate_deallocation(front_.checked_as, memory, sizeof(T));
        detail::give_back_handle_slot(front_, slot);
        throw;
      }
      return;
    }
#endif
    construct_at(memory, std::forward<Arguments>(arguments)...);
  }

  template <typename Visit>
  TARN_INLINE static void visit_slot(const detail::SlotWord& slot, void* memory, Visit& visit) {
    const std::uint64_t word = slot.load(detail::kAcquire);
    if ((detail::generation_of(word) & 1) != 0) [[likely]]
      visit(std::bit_cast<Handle<T>>(detail::handle_of(word)), *as_object(memory));
  }

  // A slot that was used again has its object elsewhere; between two looks at the same word it has one.
  template <typename Visit>
  TARN_LOCAL void visit_places(const detail::HandleWalk& walk, Visit& visit) {
    for (std::uint32_t i = 0; i < walk.place_count; ++i) {
      const auto [object, slot] = walk.places[i];
      const std::uint64_t word = slot->load(detail::kAcquire), handle = detail::handle_of(word);
      if ((detail::generation_of(word) & 1) == 0) continue;
      char* const pointers = group_of(handle).objects.load(detail::kRelaxed);
      if (object_of_malloc(pointers, index_of(handle)) == object && slot->load(detail::kAcquire) == word)
        visit(std::bit_cast<Handle<T>>(handle), *as_object(object));
    }
  }

  // The generations of some slots, of which the odd ones are: no branch depends on one of them.
  TARN_INLINE static std::uint64_t live_slots(const detail::SlotWord* words) {
    if constexpr (kAtOnce == 64) return detail::bits_of_64_words(words);
    return detail::bits_of_words(words, kAtOnce);
  }

  template <typename Visit>
  TARN_INLINE static void visit_group(const detail::HandleWalk& walk, Visit& visit) {
    constexpr std::uint64_t kAllLive = ~std::uint64_t{0} >> (64 - kAtOnce);
    const detail::SlotWord* words = walk.words;
    const detail::SlotWord* const end = words + kSlots;
    char* start = walk.objects;
    const bool prefetches = walk.prefetches;
    std::uint64_t next = live_slots(words);
    for (; words != end; words += kAtOnce, start += kAtOnce * kStride) {
      std::uint64_t bits = next;
      next = words + kAtOnce != end ? live_slots(words + kAtOnce) : 0;
      if (prefetches) detail::prefetch_sparse(next, start + kAtOnce * kStride, kStride);
      if (bits == kAllLive) {
        for (std::uint32_t i = 0; i < kAtOnce; ++i) visit_slot(words[i], start + i * kStride, visit);
        continue;
      }
      for (; bits != 0; bits &= bits - 1) {
        const auto i = detail::trailing_zeros(bits);
        visit_slot(words[i], start + i * kStride, visit);
      }
    }
  }

  detail::HandleFront front_;
};

}  // namespace TARN_NAMESPACE

template <typename T>
struct std::hash<tarn::Handle<T>> {
  /// All bits of slot and generation reach all bits of the result (the last steps of splitmix64, S. Vigna).
  std::size_t operator()(const tarn::Handle<T>& handle) const noexcept {
    std::size_t bits = (std::size_t{handle.generation} << 32 | handle.slot) + 0x9e3779b97f4a7c15u;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
    return bits ^ bits >> 31;
  }
};
