// Memory that is handed out by moving a pointer and freed all at once.
//
// An arena takes chunks (from the general pool's pages, a Heap, or the caller's buffer) and moves a pointer
// through them. reset frees everything and keeps the chunks; mark and rewind free everything allocated after
// a point. Both run the callbacks that were registered since, the latest first. Parity with the pools of
// PJLIB and APR (docs/pools/arena.md).
//
// Threads: one at a time.
// Errors: nullptr when the upstream refuses memory or the arena may not grow. Single blocks need no free:
// deallocate does nothing, and tarn::deallocate of an arena's block does nothing either, unless the arena
// lies in a Heap or a buffer.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "tarn/detail/construct.h"
#include "tarn/detail/error.h"
#include "tarn/detail/pool_name.h"
#include "tarn/detail/record_seal.h"
#include "tarn/detail/thread_cache.h"
#include "tarn/hooks.h"

namespace TARN_NAMESPACE {

class Heap;

struct ArenaOptions {
  PoolName name = {};                   // any string, copied; usually "arena"
  std::size_t initial_bytes = 4096;     // of the first chunk, which is taken when it is needed
  std::size_t increment_bytes = 0;      // of each further chunk; 0: twice the last, up to 1 MiB
  std::size_t mapped_limit = SIZE_MAX;  // bytes of all chunks together
  Heap* heap = nullptr;                 // source of the chunks; nullptr: the general pool's pages
  void* buffer = nullptr;               // the caller's memory for the first chunk; must outlive the arena
  std::size_t buffer_bytes = 0;
  // Whether the arena takes chunks after its buffer or its first chunk. If not, an arena whose buffer is too
  // small for a chunk's header has no memory at all.
  bool may_grow = true;
  // Memory is wiped when it is freed, left out of core files unless it is a buffer's or a plain heap's, and
  // read by no tool (docs/pools/sensitive.md). An arena in a sensitive heap is sensitive.
  bool sensitive = false;
};

/// A point in an arena's life, for rewind.
struct ArenaMark {
  void* chunk;
  char* next;
  void* cleanup;
};

namespace detail {

struct ArenaChunk;

/// A chunk's memory follows its header. A cleanup is a callback, in the memory of the arena itself.
struct ArenaCleanup {
  ArenaCleanup* earlier;
  void (*run)(void* context) noexcept;
  void* context;
  std::uint64_t seal;

  TARN_LOCAL std::uint64_t right_seal() const {
    return seal_of(this, word_of(earlier), reinterpret_cast<std::uintptr_t>(run), word_of(context));
  }
};

struct ArenaFront {
  char* next;
  char* end;
  ArenaChunk* chunk;  // the one that `next` moves through
  ArenaChunk* first;
  ArenaCleanup* cleanup;  // the latest
  std::size_t capacity;
  std::size_t high_water;
  std::size_t overflows;  // chunks taken from upstream after the first, since the last reset_overflows
  ArenaOptions options;
  bool is_over_malloc;
  bool poisons;
};

TARN_API void make_arena(ArenaFront& arena, const ArenaOptions& options, bool poisons) noexcept;
TARN_API void end_arena(ArenaFront& arena) noexcept;
TARN_API void* arena_allocate_slow(ArenaFront& arena, std::size_t size, std::size_t alignment) noexcept;
TARN_API void arena_rewind(ArenaFront& arena, const ArenaMark& mark) noexcept;
TARN_API std::size_t arena_release_unused(ArenaFront& arena) noexcept;
TARN_API std::size_t arena_prewarm(ArenaFront& arena, std::size_t bytes) noexcept;
TARN_API std::size_t arena_used(const ArenaFront& arena) noexcept;
TARN_API bool arena_owns(const ArenaFront& arena, const void* pointer) noexcept;

}  // namespace detail

class Arena {
 public:
  TARN_LOCAL explicit Arena(const ArenaOptions& options = {}) noexcept {
    detail::make_arena(front_, options, detail::kPoisonsFreeBlocks);
  }
  /// \param name any string, copied.
  template <std::convertible_to<PoolName> Name>
  TARN_LOCAL explicit Arena(const Name& name) noexcept : Arena(ArenaOptions{.name = name}) {}
  /// Starts in the caller's buffer, and grows from the general pool.
  TARN_LOCAL Arena(void* buffer, std::size_t bytes) noexcept
      : Arena(ArenaOptions{.buffer = buffer, .buffer_bytes = bytes}) {}
  /// Runs the callbacks, then gives every chunk back.
  TARN_LOCAL ~Arena() { detail::end_arena(front_); }
  Arena(const Arena&) = delete;  // pools stay in place: std::deque, std::list, unique_ptr
  Arena& operator=(const Arena&) = delete;
  template <std::same_as<Arena> Moved>
  Arena(Moved&&) noexcept {
    detail::stop_at_move<Moved>();
  }

  /// \param size bytes, 0 allowed. \param alignment a power of two. \cost inlined: add, mask, compare, store.
  [[nodiscard]] TARN_INLINE void* allocate(std::size_t size, std::size_t alignment = 16) noexcept {
    size += size == 0;  // blocks differ in their addresses
    const std::uintptr_t start =
        (reinterpret_cast<std::uintptr_t>(front_.next) + (alignment - 1)) & ~(std::uintptr_t{alignment} - 1);
    const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(front_.end);
    if (start > end || size > end - start) [[unlikely]]
      return allocate_slow(size, alignment);
    front_.next = reinterpret_cast<char*>(start + size);
    detail::annotate_bump(reinterpret_cast<void*>(start), size);
    return reinterpret_cast<void*>(start);
  }
  /// Does nothing: all memory is freed at once.
  TARN_INLINE void deallocate(void*) noexcept {}
  TARN_INLINE void deallocate(void*, std::size_t) noexcept {}
  TARN_INLINE void deallocate(void*, std::size_t, std::size_t) noexcept {}

  /// Makes an object that is live until reset, rewind or the arena's end; its destructor runs then, unless it
  /// is trivial.
  /// \throws std::bad_alloc, and exceptions of the constructor.
  template <typename T, typename... Arguments>
  [[nodiscard]] TARN_LOCAL T* create(Arguments&&... arguments) {
    const ArenaMark before = mark();
    detail::ArenaCleanup* cleanup = nullptr;
    if constexpr (!std::is_trivially_destructible_v<T>) {
      cleanup = static_cast<detail::ArenaCleanup*>(
          detail::checked(allocate(sizeof(detail::ArenaCleanup), alignof(detail::ArenaCleanup))));
    }
    void* const block = allocate(sizeof(T), alignof(T));
    if (block == nullptr) {
      rewind(before);
      detail::throw_bad_alloc();
    }
    T* const object = detail::construct_at<T>(block, std::forward<Arguments>(arguments)...);
    if constexpr (!std::is_trivially_destructible_v<T>) {
      add_cleanup(
          cleanup, [](void* ended) noexcept { static_cast<T*>(ended)->~T(); },
          const_cast<std::remove_cv_t<T>*>(object));
    }
    return object;
  }

  /// The same as create() for an object that is to be overwritten: what its type leaves out has no value yet.
  template <typename T>
  [[nodiscard]] TARN_LOCAL T* create_for_overwrite() {
    return create<T>(detail::ForOverwrite());
  }

  /// Runs `run(context)` when a rewind passes this point, or at reset or the arena's end; the latest first.
  /// \returns false when memory is refused.
  [[nodiscard]] TARN_LOCAL bool on_cleanup(void (*run)(void* context) noexcept, void* context) noexcept {
    auto* const cleanup = static_cast<detail::ArenaCleanup*>(
        allocate(sizeof(detail::ArenaCleanup), alignof(detail::ArenaCleanup)));
    if (cleanup == nullptr) return false;
    add_cleanup(cleanup, run, context);
    return true;
  }

  [[nodiscard]] ArenaMark mark() const noexcept { return {front_.chunk, front_.next, front_.cleanup}; }
  /// Frees everything allocated after the mark. \pre the mark is of this arena, and no rewind to an earlier
  /// mark and no reset came since.
  TARN_LOCAL void rewind(const ArenaMark& mark) noexcept { detail::arena_rewind(front_, mark); }
  /// Frees everything; the chunks are kept for later allocations.
  TARN_LOCAL void reset() noexcept { detail::arena_rewind(front_, {}); }

  /// Gives the chunks behind the current one back. \returns bytes.
  TARN_LOCAL std::size_t release_unused() noexcept { return detail::arena_release_unused(front_); }
  /// Takes and backs memory for `bytes` more without growing. \returns how many bytes are ready.
  TARN_LOCAL std::size_t prewarm(std::size_t bytes) noexcept { return detail::arena_prewarm(front_, bytes); }

  /// Bytes handed out, including the gaps that alignment left between blocks.
  TARN_LOCAL std::size_t used() const noexcept { return detail::arena_used(front_); }
  /// Bytes of all chunks.
  std::size_t capacity() const noexcept { return front_.capacity; }
  /// The most bytes used at once; sampled at growth, rewind, reset, and now.
  TARN_LOCAL std::size_t high_water() const noexcept {
    return used() > front_.high_water ? used() : front_.high_water;
  }
  TARN_LOCAL bool owns(const void* pointer) const noexcept { return detail::arena_owns(front_, pointer); }
  const char* name() const noexcept { return front_.options.name.text(); }

 protected:
  detail::ArenaFront front_;

 private:
  TARN_LOCAL void add_cleanup(detail::ArenaCleanup* cleanup, void (*run)(void* context) noexcept,
                              void* context) {
    *cleanup = {front_.cleanup, run, context, 0};
    cleanup->seal = cleanup->right_seal();
    front_.cleanup = cleanup;
  }
  TARN_NOINLINE TARN_LOCAL void* allocate_slow(std::size_t size, std::size_t alignment) noexcept {
    void* const block = detail::arena_allocate_slow(front_, size, alignment);
    if (block != nullptr) detail::annotate_bump(block, size);
    return block;
  }
};

/// Scratch memory of a tick: prewarmed once, and reset when each tick starts. Counts the ticks that needed
/// more.
class TickArena : public Arena {
 public:
  /// \param bytes how much a tick may use without overflowing.
  TARN_LOCAL explicit TickArena(std::size_t bytes, const PoolName& name = "tick") noexcept
      : TickArena(ArenaOptions{.name = name, .initial_bytes = bytes}) {}
  /// The same with any options; a tick may use `initial_bytes`.
  TARN_LOCAL explicit TickArena(const ArenaOptions& options) noexcept : Arena(options) {
    prewarm(options.initial_bytes);
    front_.overflows = 0;
  }
  /// Begins a tick: frees everything of the last tick.
  TARN_LOCAL void begin_tick() noexcept {
    ++ticks_;
    if (front_.overflows != 0) ++overflowed_ticks_;
    overflows_ += front_.overflows;
    front_.overflows = 0;
    reset();
  }
  std::size_t ticks() const noexcept { return ticks_; }
  /// Ticks that took more memory than the arena had.
  TARN_LOCAL std::size_t overflowed_ticks() const noexcept {
    return overflowed_ticks_ + (front_.overflows != 0 ? 1 : 0);
  }
  /// Chunks taken by these ticks.
  std::size_t overflows() const noexcept { return overflows_ + front_.overflows; }

 private:
  std::size_t ticks_ = 0;
  std::size_t overflowed_ticks_ = 0;
  std::size_t overflows_ = 0;
};

}  // namespace TARN_NAMESPACE
