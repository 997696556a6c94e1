// Coroutine frames from the pools: let a promise type derive from CoroutineFrame.
//
//   struct promise_type : tarn::CoroutineFrame { … };
//
// Frames come from the general pool. A coroutine whose first parameters are std::allocator_arg and a Heap has
// its frame in that heap: Task serve(std::allocator_arg_t, tarn::Heap& heap, Session& session). Either way
// the block itself says where it goes back, so a frame carries nothing.
// Threads: any; a frame may end in another thread than it began. Errors: std::bad_alloc.
#pragma once
#include <cstddef>
#include <memory>

#include "tarn/detail/error.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"

namespace TARN_NAMESPACE {

struct CoroutineFrame {
  TARN_INLINE static void* operator new(std::size_t size) { return checked(tarn::allocate(size)); }

  template <typename... Arguments>
  static void* operator new(std::size_t size, std::allocator_arg_t, Heap& heap, Arguments&&...) {
    return checked(heap.allocate(size));
  }
  /// The same for a coroutine that is a member function: the object comes first.
  template <typename Object, typename... Arguments>
  static void* operator new(std::size_t size, Object&, std::allocator_arg_t, Heap& heap, Arguments&&...) {
    return checked(heap.allocate(size));
  }

  TARN_INLINE static void operator delete(void* frame, std::size_t) noexcept { tarn::deallocate(frame); }

 private:
  TARN_INLINE static void* checked(void* frame) {
    if (frame == nullptr) [[unlikely]]
      detail::throw_bad_alloc();
    return frame;
  }
};

}  // namespace TARN_NAMESPACE
