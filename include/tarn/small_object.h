// A base class: new and delete of its descendants use the general pool, for each type, for arrays and for
// derived types, at their own sizes. Serves the purpose of Loki's SmallObject, without its size limit and
// without its lock.
//
//   struct Bullet : tarn::SmallObject<Bullet> { … };       new Bullet; delete bullet;
//
// Deleting a derived object through a base pointer needs a virtual destructor, as always.
// Threads: any. Errors: std::bad_alloc; the nothrow forms return nullptr. The new-handler is not called.
#pragma once
#include <cstddef>
#include <new>

#include "tarn/detail/error.h"
#include "tarn/memory_pool.h"

namespace TARN_NAMESPACE {

template <typename Derived>
struct SmallObject {
  [[nodiscard]] TARN_INLINE static void* operator new(std::size_t size) {
    return detail::checked(tarn::allocate(size));
  }
  [[nodiscard]] TARN_INLINE static void* operator new[](std::size_t size) {
    return detail::checked(tarn::allocate(size));
  }
  [[nodiscard]] TARN_LOCAL static void* operator new(std::size_t size, std::align_val_t alignment) {
    return detail::checked(tarn::allocate(size, static_cast<std::size_t>(alignment)));
  }
  [[nodiscard]] TARN_LOCAL static void* operator new[](std::size_t size, std::align_val_t alignment) {
    return detail::checked(tarn::allocate(size, static_cast<std::size_t>(alignment)));
  }
  [[nodiscard]] TARN_LOCAL static void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return tarn::allocate(size);
  }
  [[nodiscard]] TARN_LOCAL static void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return tarn::allocate(size);
  }
  [[nodiscard]] static void* operator new(std::size_t, void* place) noexcept { return place; }
  [[nodiscard]] static void* operator new[](std::size_t, void* place) noexcept { return place; }

  TARN_INLINE static void operator delete(void* block) noexcept { tarn::deallocate(block); }
  TARN_INLINE static void operator delete[](void* block) noexcept { tarn::deallocate(block); }
  TARN_LOCAL static void operator delete(void* block, std::align_val_t) noexcept { tarn::deallocate(block); }
  TARN_LOCAL static void operator delete[](void* block, std::align_val_t) noexcept {
    tarn::deallocate(block);
  }
  TARN_LOCAL static void operator delete(void* block, const std::nothrow_t&) noexcept {
    tarn::deallocate(block);
  }
  TARN_LOCAL static void operator delete[](void* block, const std::nothrow_t&) noexcept {
    tarn::deallocate(block);
  }
  static void operator delete(void*, void*) noexcept {}
  static void operator delete[](void*, void*) noexcept {}

 protected:
  SmallObject() = default;
  ~SmallObject() = default;
  SmallObject(const SmallObject&) = default;
  SmallObject& operator=(const SmallObject&) = default;
};

}  // namespace TARN_NAMESPACE
