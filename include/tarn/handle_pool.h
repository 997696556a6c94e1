// Objects of one type that are reached by handles; a handle detects that its object has ended. Use it to
// find uses of ended objects, and for references that may outlive their object (an entity that another entity
// aims at).
//
// A handle is a slot and a generation. Each slot counts its generations; the count is odd while the slot
// holds an object. A handle is valid while its generation equals the slot's. The generations lie apart from
// the objects and stay there while the pool lives, so even an old handle can be checked. A slot whose count
// has reached the last generation (after 2^31 objects) is never used again: no handle is valid twice.
//
// Threads: any. get() takes no lock; another thread may still destroy the object right after.
// Errors: create throws std::bad_alloc. For a handle whose object has ended, get returns nullptr, destroy
// returns false, and at() stops the process with one line.
#pragma once
#include <atomic>
#include <bit>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <type_traits>
#include <utility>

#include "tarn/detail/error.h"
#include "tarn/detail/handle_slots.h"
#include "tarn/detail/live_bits.h"
#include "tarn/detail/live_walk.h"
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
    if (!detail::make_handle_pool(front_, options.name, options.at_end == AtPoolEnd::kReport,
                                  options.at_end == AtPoolEnd::kDestroy, options.sensitive,
                                  options.initial_count, kType))
      detail::throw_bad_alloc();
  }
  TARN_LOCAL explicit HandlePool(const char* name) : HandlePool(ObjectPoolOptions{.name = name}) {}
  /// \pre no other thread uses the pool any more. The option at_end decides the fate of live objects.
  TARN_LOCAL ~HandlePool() { detail::end_handle_pool(front_); }
  HandlePool(const HandlePool&) = delete;  // pools stay in place: std::deque, std::list, unique_ptr
  HandlePool& operator=(const HandlePool&) = delete;
  template <std::same_as<HandlePool> Moved>
  HandlePool(Moved&&) noexcept {
    detail::stop_at_move<Moved>();
  }

  /// \throws std::bad_alloc when memory is refused, or when of 4,194,304 slots none is left but up to 256 at
  /// hand of each other thread; and what the constructor throws. \cost inlined: a hit of the thread's
  /// magazine, and the store of a generation.
  template <typename... Arguments>
  [[nodiscard]] TARN_INLINE Handle<T> create(Arguments&&... arguments) {
    const FreeSlot slot = take_slot();
    detail::annotate_allocation(front_.checked_as, slot.memory, sizeof(T));
    construct(slot.memory, detail::slot_of(slot.handle), std::forward<Arguments>(arguments)...);
    // Release: a thread that reads this generation also reads the object.
    slot.generation->store(detail::generation_of(slot.handle), std::memory_order_release);
    const std::uint64_t handle = slot.handle;  // a reference to the member would keep it in memory
    return std::bit_cast<Handle<T>>(handle);
  }

  /// \returns the object; nullptr when it has ended. What the thread that made the object had written before
  /// is seen through the pointer; nothing else is in any order with this call. \cost inlined: five loads.
  TARN_INLINE T* get(Handle<T> handle) const noexcept {
    const auto word = std::bit_cast<std::uint64_t>(handle);
    if (!may_be_live(word, front_.slot_count)) [[unlikely]]
      return get_of_malloc(word);
    detail::HandleChunk& chunk = chunk_of(detail::slot_of(word));
    const std::uint32_t index = detail::slot_of(word) & kMask;
    if (!is_live(chunk, index, word)) return nullptr;
    return object_at(chunk, index);
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
    detail::HandleMagazine& magazine = front_.magazine();
    std::uint64_t* const place = magazine.top.load(std::memory_order_relaxed);
    if (place == magazine.limit || !may_be_live(word, front_.slot_count)) [[unlikely]]
      return destroy_slow(word);
    detail::HandleChunk& chunk = chunk_of(detail::slot_of(word));
    const std::uint32_t index = detail::slot_of(word) & kMask;
    if (!detail::end_object_at_once(magazine, chunk.generations()[index], chunk.makers(kShift)[index],
                                    detail::generation_of(word))) [[unlikely]]
      return destroy_slow(word);
    if constexpr (!std::is_trivially_destructible_v<T> || detail::kTellsTools) {
      run_destructor(object_at(chunk, index));
      if (magazine.top.load(std::memory_order_relaxed) != place) [[unlikely]] {  // it has used the pool
        detail::give_back_handle_slot(front_, detail::slot_of(word));
        return true;
      }
    }
    magazine.push(place, word + (std::uint64_t{2} << 32));
    return true;
  }

  /// Calls visit(Handle<T>, T&) for each live object, in address order. visit may destroy any objects and
  /// create new ones: an object destroyed before its turn is not visited, one created meanwhile may be.
  /// Meanwhile the pool gives no memory back. An exception of visit ends the walk.
  /// With other threads: an object that lives during the whole call is visited exactly once, none before its
  /// constructor has returned. \pre no other thread destroys an object that visit touches.
  /// \cost a step per live object, and a few per 64 slots.
  template <typename Visit>
  TARN_LOCAL void for_each_live(Visit&& visit) {
    detail::HandleWalk walk(front_);
    while (walk.advance()) {
      if (front_.is_over_malloc) [[unlikely]] {
        for (std::uint32_t i = 0; i < walk.place_count; ++i) {
          const auto [object, slot] = walk.places[i];
          // A slot that was used again has its object elsewhere.
          if (chunk_of(slot).block(slot & kMask) == object)
            visit_slot(chunk_of(slot), slot & kMask, const_cast<void*>(object), visit);
        }
      } else {
        visit_chunk(*walk.chunk, walk.prefetches, visit);
      }
    }
  }

  /// \cost counts the slots.
  TARN_LOCAL std::size_t live_count() const noexcept { return detail::handle_pool_live_count(front_); }

  /// Makes backed memory for at least `count` more objects. \returns how many have memory.
  TARN_LOCAL std::size_t prewarm(std::size_t count) noexcept {
    return detail::handle_pool_prewarm(front_, count);
  }

  /// Gives the memory of chunks without objects back, but for those of which another running thread has free
  /// slots at hand; their generations stay. \returns bytes.
  TARN_LOCAL std::size_t release_unused() noexcept { return detail::handle_pool_release_unused(front_); }

 private:
  friend struct detail::HandlePoolAccess;

  static constexpr std::size_t kStride = sizeof(T);
  static constexpr unsigned kShift = detail::handle_chunk_shift(kStride);
  static constexpr std::uint32_t kMask = (std::uint32_t{1} << kShift) - 1;
  static constexpr std::uint32_t kGroup = kMask < 63 ? kMask + 1 : 64;
  TARN_LOCAL static void destroy_object(void* object) noexcept { static_cast<T*>(object)->~T(); }
  static constexpr detail::HandlePoolType kType{sizeof(T), kStride,        alignof(T),
                                                kShift,    destroy_object, detail::kPoisonsFreeBlocks};

  TARN_INLINE detail::HandleChunk& chunk_of(std::uint32_t slot) const { return front_.chunk<kShift>(slot); }
  TARN_INLINE T* object_at(const detail::HandleChunk& chunk, std::uint32_t index) const {
    return as_object(detail::load_quietly(chunk.objects) + index * kStride);
  }

  TARN_INLINE static T* as_object(void* memory) { return std::launder(static_cast<T*>(memory)); }

  // Handles are words here: a compiler splits and joins their halves by vector instructions.
  TARN_INLINE static bool may_be_live(std::uint64_t handle, const std::atomic<std::uint32_t>& slot_count) {
    return (detail::generation_of(handle) & 1) != 0 &&
           detail::slot_of(handle) < detail::load_quietly(slot_count);
  }
  TARN_INLINE static bool is_live(detail::HandleChunk& chunk, std::uint32_t index, std::uint64_t handle) {
    return detail::load_quietly(chunk.generations()[index]) == detail::generation_of(handle);
  }
  // \why no call: one that never happens would keep a loop's values of floating point in memory.
  TARN_INLINE T* get_of_malloc(std::uint64_t handle) const {
    if (!may_be_live(handle, front_.malloc_slot_count)) return nullptr;
    detail::HandleChunk& chunk = chunk_of(detail::slot_of(handle));
    const std::uint32_t index = detail::slot_of(handle) & kMask;
    return is_live(chunk, index, handle) ? as_object(chunk.block(index)) : nullptr;
  }

  struct FreeSlot {
    std::uint64_t handle;  // of the object that is made now
    void* memory;
    std::atomic<std::uint32_t>* generation;
  };

  TARN_INLINE FreeSlot take_slot() {
    detail::HandleMagazine& magazine = front_.magazine();
    if (const std::uint64_t handle = magazine.pop(); handle != 0) [[likely]] {
      detail::HandleChunk& chunk = chunk_of(detail::slot_of(handle));
      const std::uint32_t index = detail::slot_of(handle) & kMask;
      std::atomic<std::uint8_t>& maker = chunk.makers(kShift)[index];
      if (maker.load(std::memory_order_relaxed) != magazine.number) [[unlikely]]
        maker.store(magazine.number, std::memory_order_relaxed);
      return {handle, object_at(chunk, index), chunk.generations() + index};
    }
    const detail::HandlePlace place = take_slot_slow();
    const std::uint32_t slot = detail::slot_of(place.handle);
    return {place.handle, place.memory, chunk_of(slot).generations() + (slot & kMask)};
  }
  // \why not as FreeSlot: two words are returned in registers.
  [[gnu::noinline, gnu::cold]] TARN_LOCAL detail::HandlePlace take_slot_slow() {
    const detail::HandlePlace place = detail::take_handle_slot(front_);
    if (place.memory == nullptr) [[unlikely]]
      detail::throw_bad_alloc();
    return place;
  }

  [[gnu::noinline, gnu::cold]] TARN_LOCAL bool destroy_slow(std::uint64_t handle) noexcept {
    T* const object = as_object(detail::end_handle_object(front_, handle));
    if (object == nullptr) return false;
    run_destructor(object);
    detail::give_back_handle_slot(front_, detail::slot_of(handle));
    return true;
  }
  TARN_INLINE void run_destructor(T* object) noexcept {
    object->~T();
    detail::annotate_deallocation(front_.checked_as, object, sizeof(T));
  }

  template <typename... Arguments>
  TARN_INLINE void construct(void* memory, [[maybe_unused]] std::uint32_t slot, Arguments&&... arguments) {
#if defined(__cpp_exceptions)
    if constexpr (!std::is_nothrow_constructible_v<T, Arguments...>) {
      try {
        ::new (memory) T(std::forward<Arguments>(arguments)...);
      } catch (...) {
        detail::annotate_deallocation(front_.checked_as, memory, sizeof(T));
        detail::give_back_handle_slot(front_, slot);
        throw;
      }
      return;
    }
#endif
    ::new (memory) T(std::forward<Arguments>(arguments)...);
  }

  template <typename Visit>
  TARN_INLINE static void visit_slot(detail::HandleChunk& chunk, std::uint32_t index, void* memory,
                                     Visit& visit) {
    const std::uint32_t generation = chunk.generations()[index].load(std::memory_order_acquire);
    if ((generation & 1) != 0) [[likely]]
      visit(Handle<T>{chunk.first_slot + index, generation}, *as_object(memory));
  }

  // The odd generations of a group: no branch depends on one of them.
  TARN_INLINE static std::uint64_t live_slots(detail::HandleChunk& chunk, std::uint32_t first) {
    const void* const generations = chunk.generations() + first;
    if constexpr (kGroup == 64) return detail::bits_of_64_numbers(generations);
    return detail::bits_of_numbers(generations, kGroup);
  }

  template <typename Visit>
  TARN_INLINE void visit_chunk(detail::HandleChunk& chunk, bool prefetches, Visit& visit) {
    constexpr std::uint64_t kAllLive = ~std::uint64_t{0} >> (64 - kGroup);
    char* start = chunk.objects.load(std::memory_order_relaxed);
    std::uint64_t next = live_slots(chunk, 0);
    for (std::uint32_t first = 0; first < chunk.usable_count; first += kGroup, start += kGroup * kStride) {
      std::uint64_t bits = next;
      const std::uint32_t behind = first + kGroup;
      next = behind < chunk.usable_count ? live_slots(chunk, behind) : 0;
      if (prefetches) detail::prefetch_sparse(next, start + kGroup * kStride, kStride);
      if (bits == kAllLive) {
        for (std::uint32_t i = 0; i < kGroup; ++i) visit_slot(chunk, first + i, start + i * kStride, visit);
        continue;
      }
      for (; bits != 0; bits &= bits - 1) {
        const auto i = static_cast<std::uint32_t>(__builtin_ctzll(bits));
        visit_slot(chunk, first + i, start + i * kStride, visit);
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
