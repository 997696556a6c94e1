// std allocators over the pools, for containers that take a type.
//
//   std::vector<int, tarn::allocator<int>>                 the general pool; no state, always equal
//   tarn::allocator<int, tarn::Heap> a(heap)               a Heap, an Arena, a FixedPool; two allocators
//                                                          are equal when they have the same source
//
// A fixed pool serves a request with one block, or with several side by side when one is too small.
// Threads: those of the source. Errors: std::bad_alloc; std::bad_array_new_length when the size overflows.
#pragma once
#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>

#include "tarn/detail/error.h"
#include "tarn/detail/source.h"
#include "tarn/memory_pool.h"

namespace TARN_NAMESPACE {

template <typename T, typename Source = MemoryPool>
class allocator {
 public:
  using value_type = T;
  using is_always_equal = std::false_type;

  allocator(Source& source) noexcept : source_(&source) {}
  template <typename U>
  allocator(const allocator<U, Source>& other) noexcept : source_(&other.source()) {}

  [[nodiscard]] T* allocate(std::size_t count) {
    void* const block = detail::allocate_from(*source_, detail::array_bytes<T>(count), alignof(T));
    return static_cast<T*>(detail::checked(block));
  }
  void deallocate(T* block, std::size_t count) noexcept {
    detail::deallocate_to(*source_, block, count * sizeof(T), alignof(T));
  }

  Source& source() const noexcept { return *source_; }
  template <typename U>
  bool operator==(const allocator<U, Source>& other) const noexcept {
    return source_ == &other.source();
  }

 private:
  Source* source_;
};

template <typename T>
class allocator<T, MemoryPool> {
 public:
  using value_type = T;
  using is_always_equal = std::true_type;

  constexpr allocator() noexcept = default;
  template <typename U>
  constexpr allocator(const allocator<U, MemoryPool>&) noexcept {}

  [[nodiscard]] TARN_INLINE T* allocate(std::size_t count) {
    const std::size_t bytes = detail::array_bytes<T>(count);
    void* const block = alignof(T) <= 16 ? tarn::allocate(bytes) : tarn::allocate(bytes, alignof(T));
    return static_cast<T*>(detail::checked(block));
  }
  TARN_INLINE void deallocate(T* block, std::size_t) noexcept { tarn::deallocate(block); }

  template <typename U>
  constexpr bool operator==(const allocator<U, MemoryPool>&) const noexcept {
    return true;
  }
};

/// Destroys an object and frees its memory, whichever pool it came from. A heap must still exist then;
/// objects of an arena that lies in a heap or a buffer must not be destroyed this way.
template <typename T>
struct deleter {
  constexpr deleter() noexcept = default;
  template <typename U>
  requires std::is_convertible_v<U*, T*>
  constexpr deleter(const deleter<U>&) noexcept {}

  void operator()(T* object) const noexcept {
    static_assert(sizeof(T) > 0, "the type must be complete");
    // The block starts at the most derived object, also when T is not its first base class.
    void* block = object;
    if constexpr (std::is_polymorphic_v<T>) block = dynamic_cast<void*>(object);
    object->~T();
    tarn::deallocate(block);
  }
};

template <typename T>
using unique_ptr = std::unique_ptr<T, deleter<T>>;

/// Makes an object in the general pool. \throws std::bad_alloc, and exceptions of the constructor.
template <typename T, typename... Arguments>
[[nodiscard]] unique_ptr<T> make_unique(Arguments&&... arguments) {
  T* const block = allocator<T>().allocate(1);
  struct Guard {
    T* block;
    ~Guard() { tarn::deallocate(block); }
  } guard{block};
  T* const object = ::new (static_cast<void*>(block)) T(std::forward<Arguments>(arguments)...);
  guard.block = nullptr;
  return unique_ptr<T>(object);
}

}  // namespace TARN_NAMESPACE
