// Smart pointers to the objects of an ObjectPool. \why not in object_pool.h: g++ 12 reads 35,000 lines for
// <memory>, which a pool itself does without.
//
//   tarn::pool_unique_ptr<Session> unique = sessions.make_unique(…);
//   std::shared_ptr<Session> shared = sessions.make_shared(…);      two blocks, one of them of operator new
//
// Threads: any. Errors: std::bad_alloc, and exceptions of the constructor.
#pragma once
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "tarn/detail/error.h"
#include "tarn/object_pool.h"

namespace TARN_NAMESPACE {

/// What ObjectPool<T, kLive>::make_unique returns. The pool must live until the pointer has ended.
template <typename T, LiveObjects kLive = LiveObjects::kCounted>
using pool_unique_ptr = std::unique_ptr<T, typename ObjectPool<T, kLive>::Deleter>;

namespace detail {

template <typename T, typename Deleter>
struct SmartPointers {
  using Unique = std::unique_ptr<T, Deleter>;
  using Shared = std::shared_ptr<T>;
};

/// What a shared_ptr's control block begins with: a table of functions, and the counts.
#if defined(_LIBCPP_VERSION)
inline constexpr std::size_t kCountWords = 3;
#else
inline constexpr std::size_t kCountWords = 2;
#endif

}  // namespace detail

/// Room for a T and the control block of its shared_ptr: what a pool of shared objects is a pool of.
///   tarn::ObjectPool<tarn::SharedBlock<Session>> sessions;
///   std::shared_ptr<Session> session = tarn::allocate_shared<Session>(sessions, …);
template <typename T>
class SharedBlock {
  struct Object {
    void* allocator;
    alignas(T) std::byte object[sizeof(T)];
  };
  void* counts_[detail::kCountWords];
  Object object_;
};

namespace detail {

/// \why U first: that is what rebinding replaces.
template <typename U, typename T>
class SharedBlockAllocator {
 public:
  using value_type = U;

  explicit SharedBlockAllocator(ObjectPool<SharedBlock<T>>& pool) noexcept : pool_(&pool) {}
  template <typename V>
  SharedBlockAllocator(const SharedBlockAllocator<V, T>& other) noexcept : pool_(other.pool_) {}

  [[nodiscard]] TARN_LOCAL U* allocate(std::size_t) {
    static_assert(sizeof(U) <= sizeof(SharedBlock<T>) && alignof(U) <= alignof(SharedBlock<T>));
    return static_cast<U*>(checked(pool_->allocate()));
  }
  TARN_LOCAL void deallocate(U* block, std::size_t) noexcept { pool_->deallocate(block); }
  template <typename V>
  bool operator==(const SharedBlockAllocator<V, T>& other) const noexcept {
    return pool_ == other.pool_;
  }

 private:
  template <typename, typename>
  friend class SharedBlockAllocator;
  ObjectPool<SharedBlock<T>>* pool_;
};

}  // namespace detail

/// Makes a shared object in one block of a typed pool. The pool counts the block as live until the last
/// weak_ptr has ended, and must live until then. \throws std::bad_alloc, and exceptions of the constructor.
template <typename T, typename... Arguments>
[[nodiscard]] TARN_LOCAL std::shared_ptr<T> allocate_shared(
    ObjectPool<SharedBlock<std::remove_cv_t<T>>>& pool, Arguments&&... arguments) {
  using Object = std::remove_cv_t<T>;
  return std::allocate_shared<T>(detail::SharedBlockAllocator<Object, Object>(pool),
                                 std::forward<Arguments>(arguments)...);
}

}  // namespace TARN_NAMESPACE
