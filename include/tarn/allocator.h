// std allocators over the pools, for containers that take a type, and smart pointers whose objects lie in a
// pool.
//
//   std::vector<int, tarn::allocator<int>>                 the general pool; no state, always equal
//   tarn::source_allocator<int, tarn::Heap> a(heap)        a Heap, an Arena, a FixedPool; two allocators
//                                                          are equal when they have the same source
//   tarn::make_unique<T>(…), tarn::make_shared<T>(…)       objects in the general pool
//   tarn::allocate_unique<T>(heap, …), tarn::allocate_shared<T>(heap, …)
//
// A source is a MemoryPool, Heap, Arena, FixedPool, SharedFixedPool, HandlerMemory, or any class with
// allocate(bytes, alignment) and deallocate(block, bytes, alignment). A fixed pool serves a request with one
// block, or with several side by side when one is too small. A source must outlive its blocks.
// Threads: those of the source. Errors: std::bad_alloc; std::bad_array_new_length when the size overflows.
#pragma once
#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tarn/detail/construct.h"
#include "tarn/detail/error.h"
#include "tarn/detail/source.h"
#include "tarn/memory_pool.h"

namespace TARN_NAMESPACE {

/// What allocate_at_least returns: that of C++23, where the standard library has it.
#if defined(__cpp_lib_allocate_at_least)
template <typename Pointer>
using allocation_result = std::allocation_result<Pointer>;
#else
template <typename Pointer>
struct allocation_result {
  Pointer ptr;
  std::size_t count;
};
#endif

/// The general pool. \why a template of one parameter: clang before 19 takes no other for a
/// template <typename> class.
template <typename T>
class allocator {
 public:
  using value_type = T;
  using is_always_equal = std::true_type;

  constexpr allocator() noexcept = default;
  template <typename U>
  constexpr allocator(const allocator<U>&) noexcept {}

  [[nodiscard]] TARN_INLINE T* allocate(std::size_t count) {
    const std::size_t bytes = detail::array_bytes<T>(count);
    void* const block = alignof(T) <= 16 ? tarn::allocate(bytes) : tarn::allocate(bytes, alignof(T));
    return static_cast<T*>(detail::checked(block));
  }
  /// \returns room for at least `count` objects, and for how many. \cost a hit and a call.
  [[nodiscard]] TARN_LOCAL allocation_result<T*> allocate_at_least(std::size_t count) {
    T* const block = allocate(count);
    return {block, usable_size(block) / sizeof(T)};
  }
  TARN_INLINE void deallocate(T* block, std::size_t) noexcept { tarn::deallocate(block); }

  template <typename U>
  constexpr bool operator==(const allocator<U>&) const noexcept {
    return true;
  }
};

class Heap;

/// Whether a type may be a value in a heap's container although its own allocator is another one. Specialise
/// it for a type whose values take no memory, or should take theirs elsewhere.
template <typename T>
inline constexpr bool may_allocate_elsewhere = false;

namespace detail {

/// Whether values of a type take no memory by an allocator that Allocator does not convert to.
/// \why not of every type: what pointers, functions and members refer to cannot be known.
template <typename T, typename Allocator>
inline constexpr bool kStaysInSource = true;
template <typename T, typename Allocator>
requires requires { typename T::allocator_type; }
inline constexpr bool kStaysInSource<T, Allocator> =
    may_allocate_elsewhere<T> || std::uses_allocator_v<T, Allocator>;
template <typename First, typename Second, typename Allocator>
inline constexpr bool kStaysInSource<std::pair<First, Second>, Allocator> =
    kStaysInSource<std::remove_cv_t<First>, Allocator>&& kStaysInSource<std::remove_cv_t<Second>, Allocator>;
template <typename... T, typename Allocator>
inline constexpr bool kStaysInSource<std::tuple<T...>, Allocator> =
    (kStaysInSource<std::remove_cv_t<T>, Allocator> && ...);
template <typename T, typename Allocator>
inline constexpr bool kStaysInSource<std::optional<T>, Allocator> = kStaysInSource<T, Allocator>;

/// Whether a type takes an allocator, but not behind these arguments: one of them is its allocator.
template <typename T, typename Allocator, typename... Arguments>
inline constexpr bool kHasItsAllocator =
    std::uses_allocator_v<T, Allocator> && !std::is_constructible_v<T, Arguments..., const Allocator&> &&
    !std::is_constructible_v<T, std::allocator_arg_t, const Allocator&, Arguments...>;

}  // namespace detail

/// Any other source, by a pointer. Values that take an allocator, as strings and containers do, get this one.
template <typename T, typename Source>
class source_allocator {
 public:
  using value_type = T;
  using is_always_equal = std::false_type;

  source_allocator() = delete;  // a container or string over a source is given the source: text("key", heap)
  source_allocator(Source& source) noexcept : source_(&source) {}
  template <typename U>
  source_allocator(const source_allocator<U, Source>& other) noexcept : source_(&other.source()) {}

  [[nodiscard]] TARN_LOCAL T* allocate(std::size_t count) {
    void* const block = detail::allocate_from(*source_, detail::array_bytes<T>(count), alignof(T));
    return static_cast<T*>(detail::checked(block));
  }
  TARN_LOCAL void deallocate(T* block, std::size_t count) noexcept {
    detail::deallocate_to(*source_, block, count * sizeof(T), alignof(T));
  }

  template <typename U, typename... Arguments>
  TARN_LOCAL void construct(U* place, Arguments&&... arguments) {
    require_stays_in_source<U>();
    if constexpr (detail::kHasItsAllocator<U, source_allocator, Arguments...>) {
      ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
    } else {
      std::uninitialized_construct_using_allocator(place, *this, std::forward<Arguments>(arguments)...);
    }
  }
  /// A pair whose halves may have their allocators, as std::scoped_allocator_adaptor gives them.
  template <typename First, typename Second, typename... OfFirst, typename... OfSecond>
  TARN_LOCAL void construct(std::pair<First, Second>* place, std::piecewise_construct_t,
                            std::tuple<OfFirst...> first, std::tuple<OfSecond...> second) {
    require_stays_in_source<std::pair<First, Second>>();
    ::new (static_cast<void*>(place))
        std::pair<First, Second>(std::piecewise_construct, with_allocator<First>(std::move(first)),
                                 with_allocator<Second>(std::move(second)));
  }

  Source& source() const noexcept { return *source_; }
  template <typename U>
  TARN_LOCAL bool operator==(const source_allocator<U, Source>& other) const noexcept {
    return source_ == &other.source();
  }

 private:
  template <typename U>
  TARN_LOCAL static void require_stays_in_source() {
    static_assert(!std::is_base_of_v<Heap, Source> || detail::kStaysInSource<U, source_allocator>,
                  "a value in a heap's container would take memory elsewhere: use tarn::containers<Heap>'s "
                  "string and containers for it too, or specialise tarn::may_allocate_elsewhere");
  }
  /// \returns the arguments of a constructor, with this allocator where U takes one and they have none.
  template <typename U, typename... Arguments>
  [[nodiscard]] TARN_LOCAL auto with_allocator(std::tuple<Arguments...>&& arguments) const {
    if constexpr (detail::kHasItsAllocator<U, source_allocator, Arguments...>) {
      return std::move(arguments);
    } else {
      const auto add = [this](Arguments&&... each) {
        return std::uses_allocator_construction_args<U>(*this, std::forward<Arguments>(each)...);
      };
      return std::apply(add, std::move(arguments));
    }
  }

  Source* source_;
};

namespace detail {

/// The allocator of a source: what needs no pointer has none.
template <typename Source>
struct AllocatorOver {
  template <typename T>
  using allocator = source_allocator<T, Source>;
  template <typename T>
  static allocator<T> make(Source& source) {
    return source;
  }
};

template <>
struct AllocatorOver<MemoryPool> {
  template <typename T>
  using allocator = tarn::allocator<T>;
  template <typename T>
  static allocator<T> make(const MemoryPool&) {
    return {};
  }
};

/// Makes an object in a source's memory; the memory goes back when the constructor throws.
template <typename T, typename Source, typename... Arguments>
TARN_LOCAL T* construct_in(Source& source, Arguments&&... arguments) {
  struct Guard {
    Source& source;
    void* block;
    ~Guard() {
      if (block != nullptr) deallocate_to(source, block, sizeof(T), alignof(T));
    }
  } guard{source, checked(allocate_from(source, sizeof(T), alignof(T)))};
  T* const object = detail::construct_at<T>(guard.block, std::forward<Arguments>(arguments)...);
  guard.block = nullptr;
  return object;
}

/// The last first, as an array of the language ends.
template <typename T>
TARN_LOCAL void destroy_backwards(T* first, std::size_t count) noexcept {
  while (count > 0) std::destroy_at(first + --count);
}

/// The same as construct_in() of `count` objects side by side, value-initialised or, by ForOverwrite,
/// default-initialised.
template <typename T, typename Source, typename... Overwrite>
TARN_LOCAL T* construct_array_in(Source& source, std::size_t count, Overwrite...) {
  struct Guard {
    Source& source;
    std::size_t bytes;
    void* block;
    ~Guard() {
      if (block != nullptr) deallocate_to(source, block, bytes, alignof(T));
    }
  };
  const std::size_t bytes = array_bytes<T>(count);
  Guard guard{source, bytes, checked(allocate_from(source, bytes, alignof(T)))};
  T* const first = static_cast<T*>(guard.block);
  if constexpr (sizeof...(Overwrite) != 0) {
    std::uninitialized_default_construct_n(first, count);
  } else {
    std::uninitialized_value_construct_n(first, count);
  }
  guard.block = nullptr;
  return first;
}

/// \returns the start of an object's block: the most derived object, also when T is not its first base.
template <typename T>
TARN_LOCAL void* block_of(T* object) noexcept {
  if constexpr (std::is_polymorphic_v<T>) {
    return const_cast<void*>(dynamic_cast<const volatile void*>(object));
  } else {
    return const_cast<std::remove_cv_t<T>*>(object);
  }
}

}  // namespace detail

/// The allocator of a source by its type: allocator<T> for the general pool, source_allocator for others.
template <typename T, typename Source>
using allocator_for = typename detail::AllocatorOver<Source>::template allocator<T>;

/// Destroys an object and frees its memory, whichever pool it came from. A heap must still exist then;
/// objects of an arena that lies in a heap or a buffer must not be destroyed this way.
template <typename T>
struct deleter {
  constexpr deleter() noexcept = default;
  template <typename U>
  requires std::is_convertible_v<U*, T*>
  constexpr deleter(const deleter<U>&) noexcept {}

  TARN_LOCAL void operator()(T* object) const noexcept {
    static_assert(sizeof(T) > 0, "the type must be complete");
    void* const block = detail::block_of(object);
    object->~T();
    tarn::deallocate(block);
  }
};

/// The same of an array, which knows how many objects it has.
template <typename T>
struct deleter<T[]> {
  std::size_t count = 0;

  TARN_LOCAL void operator()(T* first) const noexcept {
    detail::destroy_backwards(first, count);
    tarn::deallocate(first);
  }
};

template <typename T>
using unique_ptr = std::unique_ptr<T, deleter<T>>;

/// Makes an object in the general pool. \throws std::bad_alloc, and exceptions of the constructor.
template <typename T, typename... Arguments>
requires(!std::is_array_v<T>) [[nodiscard]] TARN_LOCAL unique_ptr<T> make_unique(Arguments&&... arguments) {
  MemoryPool pool;
  return unique_ptr<T>(detail::construct_in<T>(pool, std::forward<Arguments>(arguments)...));
}
/// Makes an array, make_unique<int[]>(100), of value-initialised objects.
template <typename T>
requires std::is_unbounded_array_v<T>
[[nodiscard]] TARN_LOCAL unique_ptr<T> make_unique(std::size_t count) {
  MemoryPool pool;
  using Object = std::remove_extent_t<T>;
  return unique_ptr<T>(detail::construct_array_in<Object>(pool, count), deleter<T>{count});
}

/// The same, default-initialised.
template <typename T>
requires(!std::is_array_v<T>) [[nodiscard]] TARN_LOCAL unique_ptr<T> make_unique_for_overwrite() {
  return make_unique<T>(detail::ForOverwrite());
}
template <typename T>
requires std::is_unbounded_array_v<T>
[[nodiscard]] TARN_LOCAL unique_ptr<T> make_unique_for_overwrite(std::size_t count) {
  MemoryPool pool;
  using Object = std::remove_extent_t<T>;
  return unique_ptr<T>(detail::construct_array_in<Object>(pool, count, detail::ForOverwrite()),
                       deleter<T>{count});
}

/// Destroys an object of exactly this type and gives its memory back to its source, at its size. \why no
/// conversion to the deleter of a base: it would give another size back.
template <typename T, typename Source>
class source_deleter {
 public:
  constexpr source_deleter() noexcept = default;  // of a null pointer
  constexpr explicit source_deleter(Source& source) noexcept : source_(&source) {}
  template <typename U>
  requires(!std::is_const_v<U> && std::is_same_v<const U, T>) constexpr source_deleter(
      const source_deleter<U, Source>& other) noexcept
      : source_(other.source()) {}

  TARN_LOCAL void operator()(T* object) const noexcept {
    object->~T();
    detail::deallocate_to(*source_, const_cast<std::remove_cv_t<T>*>(object), sizeof(T), alignof(T));
  }
  constexpr Source* source() const noexcept { return source_; }

 private:
  Source* source_ = nullptr;
};

/// The same of an array.
template <typename T, typename Source>
class source_deleter<T[], Source> {
 public:
  constexpr source_deleter() noexcept = default;  // of a null pointer
  constexpr source_deleter(Source& source, std::size_t count) noexcept : source_(&source), count_(count) {}

  TARN_LOCAL void operator()(T* first) const noexcept {
    detail::destroy_backwards(first, count_);
    detail::deallocate_to(*source_, first, count_ * sizeof(T), alignof(T));
  }
  constexpr Source* source() const noexcept { return source_; }
  constexpr std::size_t count() const noexcept { return count_; }

 private:
  Source* source_ = nullptr;
  std::size_t count_ = 0;
};

template <typename T, typename Source>
using source_unique_ptr = std::unique_ptr<T, source_deleter<T, Source>>;

/// Makes an object in a source's memory. \throws std::bad_alloc, and exceptions of the constructor.
template <typename T, detail::MemorySource Source, typename... Arguments>
requires(!std::is_array_v<T>)
    [[nodiscard]] TARN_LOCAL source_unique_ptr<T, Source> allocate_unique(Source& source,
                                                                          Arguments&&... arguments) {
  return source_unique_ptr<T, Source>(detail::construct_in<T>(source, std::forward<Arguments>(arguments)...),
                                      source_deleter<T, Source>(source));
}
/// Makes an array of value-initialised objects.
template <typename T, detail::MemorySource Source>
requires std::is_unbounded_array_v<T>
[[nodiscard]] TARN_LOCAL source_unique_ptr<T, Source> allocate_unique(Source& source, std::size_t count) {
  using Object = std::remove_extent_t<T>;
  return source_unique_ptr<T, Source>(detail::construct_array_in<Object>(source, count),
                                      source_deleter<T, Source>(source, count));
}

/// The same, default-initialised.
template <typename T, detail::MemorySource Source>
requires(!std::is_array_v<T>)
    [[nodiscard]] TARN_LOCAL source_unique_ptr<T, Source> allocate_unique_for_overwrite(Source& source) {
  return allocate_unique<T>(source, detail::ForOverwrite());
}
template <typename T, detail::MemorySource Source>
requires std::is_unbounded_array_v<T>
[[nodiscard]] TARN_LOCAL source_unique_ptr<T, Source> allocate_unique_for_overwrite(Source& source,
                                                                                    std::size_t count) {
  using Object = std::remove_extent_t<T>;
  return source_unique_ptr<T, Source>(
      detail::construct_array_in<Object>(source, count, detail::ForOverwrite()),
      source_deleter<T, Source>(source, count));
}

/// Makes an object in one block with its control block; the block is freed when the last shared_ptr and the
/// last weak_ptr have ended, in the thread where that happens. T may be an array, as in std::allocate_shared.
/// \throws std::bad_alloc, and exceptions of the constructor.
template <typename T, detail::MemorySource Source, typename... Arguments>
[[nodiscard]] TARN_LOCAL std::shared_ptr<T> allocate_shared(Source& source, Arguments&&... arguments) {
  return std::allocate_shared<T>(detail::AllocatorOver<Source>::template make<std::byte>(source),
                                 std::forward<Arguments>(arguments)...);
}

/// The same in the general pool.
template <typename T, typename... Arguments>
[[nodiscard]] TARN_LOCAL std::shared_ptr<T> make_shared(Arguments&&... arguments) {
  return std::allocate_shared<T>(allocator<std::byte>(), std::forward<Arguments>(arguments)...);
}

}  // namespace TARN_NAMESPACE
