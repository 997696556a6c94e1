// Coroutine frames from the pools: derive the promise type from CoroutineFrame.
//
//   struct promise_type : tarn::CoroutineFrame { … };
//
// Frames come from the general pool. If a coroutine's first parameters are std::allocator_arg and a Heap, its
// frame comes from that heap: Task serve(std::allocator_arg_t, tarn::Heap& heap, Session& session). In both
// cases the page map finds the frame's pool, so a frame stores nothing for it.
// Threads: any; a frame may be freed in another thread than the one that made it. Errors: std::bad_alloc.
#pragma once
#include <cstddef>
#include <memory>

#include "tarn/detail/error.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"

namespace TARN_NAMESPACE {

struct CoroutineFrame {
  TARN_INLINE static void* operator new(std::size_t size) { return detail::checked(tarn::allocate(size)); }

  template <typename... Arguments>
  static void* operator new(std::size_t size, std::allocator_arg_t, Heap& heap, Arguments&&...) {
    return detail::checked(heap.allocate(size));
  }
  /// The same for a coroutine that is a member function: its object is the first argument.
  template <typename Object, typename... Arguments>
  static void* operator new(std::size_t size, Object&, std::allocator_arg_t, Heap& heap, Arguments&&...) {
    return detail::checked(heap.allocate(size));
  }

  TARN_INLINE static void operator delete(void* frame, std::size_t) noexcept { tarn::deallocate(frame); }
};

}  // namespace TARN_NAMESPACE
