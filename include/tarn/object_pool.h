// Objects of one type, created and destroyed through the calling thread's magazine; any thread may destroy an
// object of any other thread.
//
// The pool has its own size class (detail/thread_cache.h): its objects lie in slabs of their own, at the
// type's exact size, and use the general pool's fast path, depots and giving back. Seed of the
// idea: a typed free list with thread-local chunks; a chunk is reused when all its nodes have come back
// (docs/pools/object_pool.md).
//
// Threads: any for create and destroy. One thread makes and ends the pool, and no other uses it meanwhile.
// Errors: create throws std::bad_alloc when memory is refused, try_create returns nullptr. An exception of a
// constructor is passed on, and its memory is freed. Freeing a pointer that is no object of the pool stops
// the process with one line.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "tarn/detail/construct.h"
#include "tarn/detail/error.h"
#include "tarn/detail/live_walk.h"
#include "tarn/detail/pool_name.h"
#include "tarn/detail/thread_cache.h"
#include "tarn/fixed_pool.h"  // with the hooks; g++ 12 refuses them once more behind a header unit
#include "tarn/memory_pool.h"

namespace TARN_NAMESPACE {

/// Whether a pool knows which of its objects are live, while it is used.
enum class LiveObjects : std::uint8_t {
  kCounted,  // the number only: free objects in threads' magazines look like live ones
  kListed,   // each: for_each_live visits them. create and destroy cost the same
};

struct ObjectPoolOptions {
  PoolName name = {};  // any string, copied; usually "object pool"
  AtPoolEnd at_end = AtPoolEnd::kReport;
  std::size_t initial_count = 0;  // objects that have memory from the start
  // Objects are wiped once destroyed, left out of core files, and read by no tool (docs/pools/sensitive.md);
  // create and destroy take the slow way.
  bool sensitive = false;
};

namespace detail {

struct ObjectPoolState;

template <typename T, typename Deleter>
struct SmartPointers;  // needs #include <tarn/pool_pointers.h>

struct ObjectPoolType {
  std::size_t bytes;
  std::size_t alignment;
  void (*destroy)(void* object) noexcept;
  bool poisons;
  LiveObjects live_objects = LiveObjects::kCounted;
};

/// \returns nullptr when memory is refused. \post front is that of the pool's blocks.
TARN_API ObjectPoolState* make_object_pool(const ObjectPoolOptions& options, const ObjectPoolType& type,
                                           SharedPoolFront& front) noexcept;
TARN_API void end_object_pool(ObjectPoolState* state) noexcept;
TARN_API std::size_t object_pool_prewarm(ObjectPoolState* state, std::size_t count) noexcept;

}  // namespace detail

/// \tparam kLive kListed for pools whose live objects are visited.
template <typename T, LiveObjects kLive = LiveObjects::kCounted>
class ObjectPool {
 public:
  static_assert(std::is_object_v<T> && !std::is_array_v<T>,
                "a pool of objects; FixedPool has contiguous blocks");
  static_assert(sizeof(T) <= detail::kMediumLimit && alignof(T) <= 4096,
                "objects up to 256 KiB, alignment up to 4 KiB");

  using value_type = T;

  /// Destroys an object through its pool; make_unique's pointers hold one.
  struct Deleter {
    ObjectPool* pool;
    TARN_LOCAL void operator()(const T* object) const noexcept { pool->destroy(object); }
  };

  /// \throws std::bad_alloc when memory is refused.
  TARN_LOCAL explicit ObjectPool(const ObjectPoolOptions& options = {})
      : state_(detail::make_object_pool(options, kType, blocks_)) {
    if (state_ == nullptr) detail::throw_bad_alloc();
  }
  /// \param name any string, copied.
  template <std::convertible_to<PoolName> Name>
  TARN_LOCAL explicit ObjectPool(const Name& name) : ObjectPool(ObjectPoolOptions{.name = name}) {}
  /// \pre no other thread uses the pool any more. The option at_end decides the fate of live objects.
  TARN_LOCAL ~ObjectPool() { detail::end_object_pool(state_); }
  ObjectPool(const ObjectPool&) = delete;  // pools stay in place: std::deque, std::list, unique_ptr
  ObjectPool& operator=(const ObjectPool&) = delete;
  template <std::same_as<ObjectPool> Moved>
  ObjectPool(Moved&&) noexcept {
    detail::stop_at_move<Moved>();
  }

  /// \cost a hit of the thread's magazine for the memory: five loads, two stores, two compares, inlined.
  template <typename... Arguments>
  [[nodiscard]] TARN_INLINE T* create(Arguments&&... arguments) {
    return construct(detail::checked(allocate()), std::forward<Arguments>(arguments)...);
  }

  /// The same, but returns nullptr when memory is refused.
  template <typename... Arguments>
  [[nodiscard]] TARN_INLINE T* try_create(Arguments&&... arguments) {
    void* const block = allocate();
    return block != nullptr ? construct(block, std::forward<Arguments>(arguments)...) : nullptr;
  }

  /// The same as create() for an object that is to be overwritten: what its type leaves out has no value yet.
  [[nodiscard]] TARN_INLINE T* create_for_overwrite() { return create(detail::ForOverwrite()); }

  /// Destroys an object and frees its memory; nullptr is ignored.
  TARN_INLINE void destroy(const T* object) noexcept {
    if (object == nullptr) [[unlikely]]
      return;
    auto* const block = const_cast<std::remove_cv_t<T>*>(object);
    if constexpr (detail::kChecksFrees) detail::block_pool_check_free(blocks_.state, block, 1);
    object->~T();
    deallocate(block);
  }

  /// \returns a pool_unique_ptr<T>. \pre the file includes tarn/pool_pointers.h, as for make_shared.
  template <typename... Arguments>
  [[nodiscard]] TARN_LOCAL auto make_unique(Arguments&&... arguments) {
    using Pointer = typename detail::SmartPointers<T, Deleter>::Unique;
    return Pointer(create(std::forward<Arguments>(arguments)...), Deleter{this});
  }

  /// \returns a std::shared_ptr<T>. \cost the object's memory comes from this pool, the control block's from
  /// operator new; a pool of SharedBlock<T> has both in one block.
  template <typename... Arguments>
  [[nodiscard]] TARN_LOCAL auto make_shared(Arguments&&... arguments) {
    using Pointer = typename detail::SmartPointers<T, Deleter>::Shared;
    return Pointer(create(std::forward<Arguments>(arguments)...), Deleter{this});
  }

  /// \returns memory for one T without an object; nullptr when memory is refused.
  [[nodiscard]] TARN_INLINE void* allocate() noexcept {
    void* const block = detail::pool_allocate(blocks_);
    if constexpr (detail::kTellsTools)
      if (block != nullptr) detail::annotate_allocation(state_, block, sizeof(T));
    return block;
  }
  /// \pre the block holds no object any more.
  TARN_INLINE void deallocate(void* block) noexcept {
    if (block == nullptr) [[unlikely]]
      return;
    if constexpr (detail::kTellsTools) detail::annotate_deallocation(state_, block, sizeof(T));
    detail::pool_deallocate(blocks_, block);
  }

  /// Calls visit(T&) for each live object, in address order. visit may destroy any objects and create new
  /// ones: an object destroyed before its turn is not visited, one created meanwhile may be. Meanwhile the
  /// pool gives no memory back. An exception of visit ends the walk.
  /// With other threads: an object that is live during the whole call is visited exactly once.
  /// \pre no other thread creates or destroys objects of the pool meanwhile, or visit knows which it may
  /// touch: it may be given one whose constructor still runs.
  /// \cost as SharedFixedPool's.
  template <typename Visit>
  TARN_LOCAL void for_each_live(Visit&& visit) requires(kLive == LiveObjects::kListed) {
    const auto visit_object = [&](void* block) { visit(*std::launder(static_cast<T*>(block))); };
    detail::visit_live_blocks(blocks_.state, blocks_.stride, visit_object);
  }

  /// \returns the number of live objects. \cost a lock per thread and a step per slab.
  TARN_LOCAL std::size_t live_count() const noexcept { return detail::block_pool_live_count(blocks_.state); }

  /// Makes backed memory for at least `count` more objects, of any threads. \returns how many have memory.
  TARN_LOCAL std::size_t prewarm(std::size_t count) noexcept {
    return detail::object_pool_prewarm(state_, count);
  }

  /// Gives the calling thread's cached blocks and every slab without live objects back. \returns bytes.
  TARN_LOCAL std::size_t release_unused() noexcept {
    return detail::block_pool_release_unused(blocks_.state);
  }

 private:
  TARN_LOCAL static void destroy_object(void* object) noexcept { static_cast<T*>(object)->~T(); }
  static constexpr detail::ObjectPoolType kType{sizeof(T), alignof(T), destroy_object,
                                                detail::kPoisonsFreeBlocks, kLive};

  /// \why not construct_at of detail: a type may make this class its friend, to have a private constructor.
  template <typename... Arguments>
  TARN_INLINE static T* construct_at(void* block, Arguments&&... arguments) {
    return ::new (block) T(std::forward<Arguments>(arguments)...);
  }
  TARN_INLINE static T* construct_at(void* block, detail::ForOverwrite&&) { return ::new (block) T; }

  template <typename... Arguments>
  TARN_INLINE T* construct(void* block, Arguments&&... arguments) {
#if defined(__cpp_exceptions)
    if constexpr (!detail::kIsMadeWithoutThrow<T, Arguments...>) {
      try {
        return construct_at(block, std::forward<Arguments>(arguments)...);
      } catch (...) {
        deallocate(block);
        throw;
      }
    }
#endif
    return construct_at(block, std::forward<Arguments>(arguments)...);
  }

  detail::SharedPoolFront blocks_;
  detail::ObjectPoolState* state_;
};

}  // namespace TARN_NAMESPACE
