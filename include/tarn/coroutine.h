// Coroutine frames from the pools: derive the promise type from one of these.
//
//   struct promise_type : tarn::CoroutineFrame { … };       the general pool or a Heap; nothing stored
//   struct promise_type : tarn::AnyCoroutineFrame { … };    any source, std::pmr resource or std allocator;
//                                                           one or two words more in each frame
//
// The coroutine's parameters say where its frame lies: std::allocator_arg and behind it the source, first of
// all or right behind the object of a member function or lambda. Without them the frame comes from the
// general pool.
//
//   Task serve(std::allocator_arg_t, tarn::Heap& frames, Session& session);
//
// A frame goes back where it came from, at its size. CoroutineFrame finds that by the frame's address,
// AnyCoroutineFrame by what it stored behind the frame: how to free, and the source's address or a copy of
// the allocator. A source must outlive its frames.
// Threads: those of the source; a frame is freed in the thread that destroys it. Errors: std::bad_alloc. A
// promise type P with get_return_object_on_allocation_failure derives from TryCoroutineFrame<P> or
// TryAnyCoroutineFrame<P>: its coroutine then returns that object, and its frame throws nothing.
#pragma once
#include <concepts>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <new>
#include <type_traits>
#include <utility>

#include "tarn/detail/error.h"
#include "tarn/detail/source.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"

namespace TARN_NAMESPACE {
namespace detail {

/// \why noexcept is written out in each function below: clang 14 does not evaluate it for a template.
template <typename Promise>
TARN_INLINE void* frame_or_null(void* frame) noexcept {
  static_assert(
      requires { Promise::get_return_object_on_allocation_failure(); },
      "the coroutine must have something to return without a frame");
  return frame;
}

template <typename Allocator>
concept StandardAllocator = requires(Allocator& allocator, typename Allocator::value_type* block) {
  { allocator.allocate(std::size_t{1}) } -> std::same_as<typename Allocator::value_type*>;
  allocator.deallocate(block, std::size_t{1});
};

// The places of frames: each stores what it needs to free one. Their allocate throws or returns nullptr.
inline constexpr std::size_t kFrameAlignment = 16;

template <typename Source>
struct FrameInSource {
  Source* source;
  void* allocate(std::size_t bytes) { return allocate_from(*source, bytes, kFrameAlignment); }
  void deallocate(void* frame, std::size_t bytes) { deallocate_to(*source, frame, bytes, kFrameAlignment); }
};

struct FrameInGeneralPool {
  void* allocate(std::size_t bytes) { return tarn::allocate(bytes); }
  void deallocate(void* frame, std::size_t bytes) { tarn::deallocate(frame, bytes); }
};

struct FrameInResource {
  std::pmr::memory_resource* resource;
  void* allocate(std::size_t bytes) { return resource->allocate(bytes, kFrameAlignment); }
  void deallocate(void* frame, std::size_t bytes) { resource->deallocate(frame, bytes, kFrameAlignment); }
};

template <typename Allocator>
struct FrameOfAllocator {
  struct alignas(kFrameAlignment) Unit {
    std::byte bytes[kFrameAlignment];
  };
  using Traits = typename std::allocator_traits<Allocator>::template rebind_traits<Unit>;

  [[no_unique_address]] typename Traits::allocator_type allocator;
  void* allocate(std::size_t bytes) { return std::to_address(Traits::allocate(allocator, units_for(bytes))); }
  void deallocate(void* frame, std::size_t bytes) {
    using Pointer = typename Traits::pointer;
    Traits::deallocate(allocator, std::pointer_traits<Pointer>::pointer_to(*static_cast<Unit*>(frame)),
                       units_for(bytes));
  }
  static constexpr std::size_t units_for(std::size_t bytes) {
    return (bytes + sizeof(Unit) - 1) / sizeof(Unit);
  }
};

/// What AnyCoroutineFrame stores behind a frame.
struct FrameTail {
  void (*free)(void* frame, std::size_t size) noexcept;
};
template <typename Place>
struct FrameTailOf : FrameTail {
  [[no_unique_address]] Place place;
};

constexpr std::size_t tail_offset(std::size_t frame_size) {
  return (frame_size + alignof(FrameTail) - 1) / alignof(FrameTail) * alignof(FrameTail);
}
template <typename Tail>
Tail* tail_of(void* frame, std::size_t frame_size) {
  return static_cast<Tail*>(static_cast<void*>(static_cast<std::byte*>(frame) + tail_offset(frame_size)));
}

template <typename Place>
void free_frame(void* frame, std::size_t size) noexcept {
  auto* const tail = tail_of<FrameTailOf<Place>>(frame, size);
  Place place = std::move(tail->place);
  std::destroy_at(tail);
  place.deallocate(frame, tail_offset(size) + sizeof(FrameTailOf<Place>));
}

/// \returns nullptr when memory is refused, or throws what the place throws.
template <typename Place>
void* allocate_frame(Place place, std::size_t size) {
  using Tail = FrameTailOf<Place>;
  static_assert(alignof(Tail) == alignof(FrameTail), "the allocator's alignment is larger than a pointer's");
  void* const frame = place.allocate(tail_offset(size) + sizeof(Tail));
  if (frame != nullptr) ::new (tail_of<void>(frame, size)) Tail{{free_frame<Place>}, std::move(place)};
  return frame;
}

/// The same; nullptr also where the place throws.
template <typename Place>
void* try_allocate_frame(Place place, std::size_t size) noexcept {
#if defined(__cpp_exceptions)
  try {
    return allocate_frame(std::move(place), size);
  } catch (...) {
    return nullptr;
  }
#else
  return allocate_frame(std::move(place), size);
#endif
}

template <typename Given>
auto place_of(Given& given) {
  using Type = std::remove_cv_t<Given>;
  if constexpr (std::is_convertible_v<Given&, std::pmr::memory_resource*>) {
    return FrameInResource{given};
  } else if constexpr (std::derived_from<Type, std::pmr::memory_resource>) {
    return FrameInResource{&given};
  } else if constexpr (std::is_same_v<Type, MemoryPool>) {
    return FrameInGeneralPool{};
  } else if constexpr (MemorySource<Given>) {
    return FrameInSource<Given>{&given};
  } else {
    static_assert(StandardAllocator<Type>,
                  "behind std::allocator_arg comes a source, a std::pmr::memory_resource or an allocator");
    return FrameOfAllocator<Type>{typename FrameOfAllocator<Type>::Traits::allocator_type(given)};
  }
}

}  // namespace detail

/// The frame lies in the general pool or, by argument, in a Heap. \cost that of the pool's calls.
struct CoroutineFrame {
  [[nodiscard]] TARN_INLINE static void* operator new(std::size_t size) {
    return detail::checked(tarn::allocate(size));
  }
  template <typename... Arguments>
  [[nodiscard]] static void* operator new(std::size_t size, std::allocator_arg_t, Heap& heap,
                                          Arguments&&...) {
    return detail::checked(heap.allocate(size));
  }
  /// The same for a coroutine that is a member function: its object is the first argument.
  template <typename Object, typename... Arguments>
  [[nodiscard]] static void* operator new(std::size_t size, Object&&, std::allocator_arg_t, Heap& heap,
                                          Arguments&&...) {
    return detail::checked(heap.allocate(size));
  }
  TARN_INLINE static void operator delete(void* frame, std::size_t) noexcept { tarn::deallocate(frame); }
};

/// The same, but where memory is refused the coroutine returns what
/// Promise::get_return_object_on_allocation_failure() does.
template <typename Promise>
struct TryCoroutineFrame {
  [[nodiscard]] TARN_INLINE static void* operator new(std::size_t size) noexcept {
    return detail::frame_or_null<Promise>(tarn::allocate(size));
  }
  template <typename... Arguments>
  [[nodiscard]] static void* operator new(std::size_t size, std::allocator_arg_t, Heap& heap,
                                          Arguments&&...) noexcept {
    return detail::frame_or_null<Promise>(heap.allocate(size));
  }
  template <typename Object, typename... Arguments>
  [[nodiscard]] static void* operator new(std::size_t size, Object&&, std::allocator_arg_t, Heap& heap,
                                          Arguments&&...) noexcept {
    return detail::frame_or_null<Promise>(heap.allocate(size));
  }
  TARN_INLINE static void operator delete(void* frame, std::size_t) noexcept { tarn::deallocate(frame); }
};

/// The frame lies where the argument behind std::allocator_arg says: a source (allocator.h) by reference, a
/// std::pmr::memory_resource by reference or pointer, or an allocator by value. \cost in each frame a word,
/// and the source's address or the allocator where it has a size; an indirect call when the frame is freed.
struct AnyCoroutineFrame {
  [[nodiscard]] static void* operator new(std::size_t size) {
    return detail::checked(detail::allocate_frame(detail::FrameInGeneralPool{}, size));
  }
  template <typename Given, typename... Arguments>
  [[nodiscard]] static void* operator new(std::size_t size, std::allocator_arg_t, Given&& given,
                                          Arguments&&...) {
    return detail::checked(detail::allocate_frame(detail::place_of(given), size));
  }
  template <typename Object, typename Given, typename... Arguments>
  [[nodiscard]] static void* operator new(std::size_t size, Object&&, std::allocator_arg_t, Given&& given,
                                          Arguments&&...) {
    return detail::checked(detail::allocate_frame(detail::place_of(given), size));
  }
  // Inlined: to g++ 12 a function template and this do not match, and it warns.
  TARN_INLINE static void operator delete(void* frame, std::size_t size) noexcept {
    detail::tail_of<detail::FrameTail>(frame, size)->free(frame, size);
  }
};

/// The same, but where memory is refused the coroutine returns what
/// Promise::get_return_object_on_allocation_failure() does.
template <typename Promise>
struct TryAnyCoroutineFrame {
  [[nodiscard]] static void* operator new(std::size_t size) noexcept {
    return detail::frame_or_null<Promise>(detail::try_allocate_frame(detail::FrameInGeneralPool{}, size));
  }
  template <typename Given, typename... Arguments>
  [[nodiscard]] static void* operator new(std::size_t size, std::allocator_arg_t, Given&& given,
                                          Arguments&&...) noexcept {
    return detail::frame_or_null<Promise>(detail::try_allocate_frame(detail::place_of(given), size));
  }
  template <typename Object, typename Given, typename... Arguments>
  [[nodiscard]] static void* operator new(std::size_t size, Object&&, std::allocator_arg_t, Given&& given,
                                          Arguments&&...) noexcept {
    return detail::frame_or_null<Promise>(detail::try_allocate_frame(detail::place_of(given), size));
  }
  TARN_INLINE static void operator delete(void* frame, std::size_t size) noexcept {
    detail::tail_of<detail::FrameTail>(frame, size)->free(frame, size);
  }
};

}  // namespace TARN_NAMESPACE
