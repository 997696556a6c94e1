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
// Frames are aligned as their promises and variables need: with g++ up to 4 KiB, with clang up to 64 bytes,
// or without a limit by -fcoro-aligned-allocation.
// A frame goes back where it came from, at its size. CoroutineFrame finds that by the frame's address,
// AnyCoroutineFrame by what it stored behind the frame: how to free, and the source's address or a copy of
// the allocator. A source must outlive its frames.
// Threads: those of the source; a frame is freed in the thread that destroys it. Errors: std::bad_alloc. A
// promise type P with get_return_object_on_allocation_failure derives from TryCoroutineFrame<P> or
// TryAnyCoroutineFrame<P>: its coroutine then returns that object, and its frame throws nothing.
#pragma once
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "tarn/detail/error.h"
#include "tarn/detail/source.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"

namespace TARN_NAMESPACE {

class Arena;

namespace detail {

inline constexpr std::size_t kFrameAlignment = 16;
inline constexpr std::size_t kLargestFrameAlignment = 4096;

constexpr std::size_t larger_of(std::size_t a, std::size_t b) { return a < b ? b : a; }

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

/// \returns an alignment that does for a frame of this size. \why no compiler but clang with
/// -fcoro-aligned-allocation tells it. g++ makes the size a multiple of it. In a frame of clang, what is
/// aligned has its alignment before it and its size behind.
constexpr std::size_t frame_alignment(std::size_t size) {
  const std::size_t multiples = size | kLargestFrameAlignment;
  std::size_t alignment = multiples & (~multiples + 1);
#if defined(__clang__)
  const std::size_t half = std::bit_floor(size / 2);
  alignment = larger_of(alignment, half < 64 ? half : 64);
#endif
  return larger_of(alignment, kFrameAlignment);
}
template <typename... Arguments>
constexpr std::size_t frame_alignment(std::size_t, std::align_val_t alignment, const Arguments&...) {
  return larger_of(static_cast<std::size_t>(alignment), kFrameAlignment);
}
template <typename First, typename... Arguments>
constexpr std::size_t frame_alignment(std::size_t size, const First&, const Arguments&...) {
  return frame_alignment(size);
}

/// Whether a source is a std::pmr::memory_resource. \why by its members: <memory_resource> is much to read.
template <typename Source>
inline constexpr bool kIsResource = requires(const Source& resource) {
  { resource.is_equal(resource) } -> std::same_as<bool>;
};

// The places of frames: each stores what it needs to free one. Their allocate throws or returns nullptr.
template <typename Source>
struct FrameInSource {
  Source* source;
  /// Whether the source aligns blocks so, at no other price.
  TARN_LOCAL bool aligns_to(std::size_t alignment) const {
    if constexpr (kHasFixedBlocks<Source>) return source->alignment() % alignment == 0;
    return std::is_base_of_v<Heap, Source> || std::is_base_of_v<Arena, Source> || kIsResource<Source>;
  }
  TARN_LOCAL void* allocate(std::size_t bytes, std::size_t alignment) {
    return allocate_from(*source, bytes, alignment);
  }
  TARN_LOCAL void deallocate(void* block, std::size_t bytes, std::size_t alignment) {
    deallocate_to(*source, block, bytes, alignment);
  }
};

struct FrameInGeneralPool {
  static bool aligns_to(std::size_t) { return true; }
  TARN_LOCAL static void* allocate(std::size_t bytes, std::size_t alignment) {
    return alignment == kFrameAlignment ? tarn::allocate(bytes) : tarn::allocate(bytes, alignment);
  }
  TARN_LOCAL static void deallocate(void* block, std::size_t, std::size_t) { tarn::deallocate(block); }
};

template <typename Allocator>
struct FrameOfAllocator {
  struct alignas(kFrameAlignment) Unit {
    std::byte bytes[kFrameAlignment];
  };
  using Traits = typename std::allocator_traits<Allocator>::template rebind_traits<Unit>;

  TARN_NO_UNIQUE_ADDRESS typename Traits::allocator_type allocator;
  static bool aligns_to(std::size_t) { return false; }
  TARN_LOCAL void* allocate(std::size_t bytes, std::size_t) {
    return std::to_address(Traits::allocate(allocator, units_for(bytes)));
  }
  TARN_LOCAL void deallocate(void* block, std::size_t bytes, std::size_t) {
    using Pointer = typename Traits::pointer;
    Traits::deallocate(allocator, std::pointer_traits<Pointer>::pointer_to(*static_cast<Unit*>(block)),
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
  TARN_NO_UNIQUE_ADDRESS Place place;
};
/// Behind a frame that is aligned to more than kFrameAlignment.
template <typename Place>
struct AlignedFrameTailOf : FrameTailOf<Place> {
  void* block;
  std::size_t alignment;
};

constexpr std::size_t tail_offset(std::size_t frame_size) {
  return (frame_size + alignof(FrameTail) - 1) / alignof(FrameTail) * alignof(FrameTail);
}
template <typename Tail>
TARN_LOCAL Tail* tail_of(void* frame, std::size_t frame_size) {
  return static_cast<Tail*>(static_cast<void*>(static_cast<std::byte*>(frame) + tail_offset(frame_size)));
}

/// The block of a frame. Where the place does not align it so far, it is longer, and the frame begins within.
struct FrameBlock {
  template <typename Place>
  TARN_LOCAL FrameBlock(const Place& place, std::size_t needed, std::size_t frame_alignment)
      : bytes(needed), alignment(frame_alignment) {
    if (alignment == kFrameAlignment || place.aligns_to(alignment)) return;
    bytes += alignment - kFrameAlignment;
    alignment = kFrameAlignment;
  }
  std::size_t bytes;
  std::size_t alignment;
};

template <typename Place>
TARN_LOCAL void free_frame(void* frame, std::size_t size) noexcept {
  auto* const tail = tail_of<FrameTailOf<Place>>(frame, size);
  Place place = std::move(tail->place);
  std::destroy_at(tail);
  place.deallocate(frame, tail_offset(size) + sizeof(*tail), kFrameAlignment);
}
template <typename Place>
TARN_LOCAL void free_aligned_frame(void* frame, std::size_t size) noexcept {
  auto* const tail = tail_of<AlignedFrameTailOf<Place>>(frame, size);
  Place place = std::move(tail->place);
  void* const start = tail->block;
  const FrameBlock block(place, tail_offset(size) + sizeof(*tail), tail->alignment);
  std::destroy_at(tail);
  place.deallocate(start, block.bytes, block.alignment);
}

/// \returns nullptr when memory is refused, or throws what the place throws.
template <typename Place>
TARN_LOCAL void* allocate_frame(Place place, std::size_t size, std::size_t alignment) {
  using Tail = FrameTailOf<Place>;
  using AlignedTail = AlignedFrameTailOf<Place>;
  static_assert(alignof(Tail) == alignof(FrameTail), "the allocator's alignment is larger than a pointer's");
  const bool is_aligned = alignment > kFrameAlignment;
  const std::size_t needed = tail_offset(size) + (is_aligned ? sizeof(AlignedTail) : sizeof(Tail));
  const FrameBlock block(place, needed, alignment);
  void* const start = place.allocate(block.bytes, block.alignment);
  if (start == nullptr) return nullptr;
  if (!is_aligned) {
    ::new (tail_of<void>(start, size)) Tail{{free_frame<Place>}, std::move(place)};
    return start;
  }
  const std::size_t gap = (~reinterpret_cast<std::uintptr_t>(start) + 1) & (alignment - 1);
  void* const frame = static_cast<std::byte*>(start) + gap;
  ::new (tail_of<void>(frame, size))
      AlignedTail{{{free_aligned_frame<Place>}, std::move(place)}, start, alignment};
  return frame;
}

/// The same; nullptr also where the place throws.
template <typename Place>
TARN_LOCAL void* try_allocate_frame(Place place, std::size_t size, std::size_t alignment) noexcept {
#if defined(__cpp_exceptions)
  try {
    return allocate_frame(std::move(place), size, alignment);
  } catch (...) {
    return nullptr;
  }
#else
  return allocate_frame(std::move(place), size, alignment);
#endif
}

template <typename Given>
TARN_LOCAL auto place_of(Given& given) {
  using Type = std::remove_cv_t<Given>;
  if constexpr (std::is_same_v<Type, MemoryPool>) {
    return FrameInGeneralPool{};
  } else if constexpr (MemorySource<Given>) {
    return FrameInSource<Given>{&given};
  } else if constexpr (std::is_pointer_v<Type> && MemorySource<std::remove_pointer_t<Type>>) {
    return FrameInSource<std::remove_pointer_t<Type>>{given};
  } else {
    static_assert(StandardAllocator<Type>,
                  "behind std::allocator_arg comes a source, a std::pmr::memory_resource or an allocator");
    return FrameOfAllocator<Type>{typename FrameOfAllocator<Type>::Traits::allocator_type(given)};
  }
}

template <typename Wanted, typename... Arguments>
inline constexpr bool kBeginsWith = false;
template <typename Wanted, typename First, typename... Rest>
inline constexpr bool kBeginsWith<Wanted, First, Rest...> = std::is_same_v<std::remove_cv_t<First>, Wanted>;

inline FrameInGeneralPool place_among() { return {}; }
/// \returns the place that a coroutine's arguments name. The first of a member function is its object; and
/// clang gives the frame's alignment before them with -fcoro-aligned-allocation.
template <typename First, typename... Rest>
TARN_LOCAL auto place_among(First&, Rest&... rest) {
  if constexpr (std::is_same_v<First, std::align_val_t>) {
    return place_among(rest...);
  } else if constexpr (kBeginsWith<std::allocator_arg_t, First> && sizeof...(Rest) != 0) {
    return [](auto& given, auto&...) { return place_of(given); }(rest...);
  } else if constexpr (kBeginsWith<std::allocator_arg_t, Rest...> && sizeof...(Rest) > 1) {
    return [](auto&, auto& given, auto&...) { return place_of(given); }(rest...);
  } else {
    return FrameInGeneralPool{};
  }
}

/// Whether a frame's address is enough to free it.
template <typename Place>
inline constexpr bool kIsFreedByAddress = std::is_same_v<Place, FrameInGeneralPool>;
template <std::derived_from<Heap> Source>
inline constexpr bool kIsFreedByAddress<FrameInSource<Source>> = true;

/// A frame without a tail.
template <typename Place>
TARN_INLINE void* allocate_bare_frame(Place place, std::size_t size, std::size_t alignment) {
  static_assert(kIsFreedByAddress<Place>,
                "the frame lies in a tarn::Heap or the general pool; AnyCoroutineFrame takes any source");
  return place.allocate(size, alignment);
}

}  // namespace detail

/// The frame lies in the general pool or, by argument, in a Heap. \cost that of the pool's calls.
struct CoroutineFrame {
  template <typename... Arguments>
  [[nodiscard]] TARN_INLINE static void* operator new(std::size_t size, Arguments&&... arguments) {
    return detail::checked(detail::allocate_bare_frame(detail::place_among(arguments...), size,
                                                       detail::frame_alignment(size, arguments...)));
  }
  TARN_INLINE static void operator delete(void* frame, std::size_t) noexcept { tarn::deallocate(frame); }
};

/// The same, but where memory is refused the coroutine returns what
/// Promise::get_return_object_on_allocation_failure() does.
template <typename Promise>
struct TryCoroutineFrame {
  template <typename... Arguments>
  [[nodiscard]] TARN_INLINE static void* operator new(std::size_t size, Arguments&&... arguments) noexcept {
    return detail::frame_or_null<Promise>(detail::allocate_bare_frame(
        detail::place_among(arguments...), size, detail::frame_alignment(size, arguments...)));
  }
  TARN_INLINE static void operator delete(void* frame, std::size_t) noexcept { tarn::deallocate(frame); }
};

/// The frame lies where the argument behind std::allocator_arg says: a source (allocator.h) by reference, a
/// std::pmr::memory_resource by reference or pointer, or an allocator by value. \cost in each frame a word,
/// and the source's address or the allocator where it has a size; an indirect call when the frame is freed.
struct AnyCoroutineFrame {
  template <typename... Arguments>
  [[nodiscard]] TARN_LOCAL static void* operator new(std::size_t size, Arguments&&... arguments) {
    return detail::checked(detail::allocate_frame(detail::place_among(arguments...), size,
                                                  detail::frame_alignment(size, arguments...)));
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
  template <typename... Arguments>
  [[nodiscard]] TARN_LOCAL static void* operator new(std::size_t size, Arguments&&... arguments) noexcept {
    return detail::frame_or_null<Promise>(detail::try_allocate_frame(
        detail::place_among(arguments...), size, detail::frame_alignment(size, arguments...)));
  }
  TARN_INLINE static void operator delete(void* frame, std::size_t size) noexcept {
    detail::tail_of<detail::FrameTail>(frame, size)->free(frame, size);
  }
};

}  // namespace TARN_NAMESPACE
