// std::pmr resources over the pools, for code that takes a std::pmr::memory_resource*.
//
//   tarn::memory_resource<tarn::Heap> resource(heap);      a Heap, an Arena, a FixedPool
//   tarn::default_resource()                               the general pool
//   tarn::pmr::polymorphic_allocator<T>                    std's, but without a resource it is the general
//                                                          pool's (containers.h has the containers)
//
// Threads: those of the source. Errors: std::bad_alloc.
#pragma once
#include <cstddef>
#include <memory_resource>

#include "tarn/detail/source.h"
#include "tarn/memory_pool.h"

namespace TARN_NAMESPACE {

template <typename Source = MemoryPool>
class memory_resource final : public std::pmr::memory_resource {
 public:
  TARN_LOCAL explicit memory_resource(Source& source) noexcept
      : source_(&source), allocate_(allocate_from), deallocate_(deallocate_to) {}

  Source& source() const noexcept { return *source_; }

 private:
  [[nodiscard]] TARN_LOCAL static void* allocate_from(Source& source, std::size_t bytes,
                                                      std::size_t alignment) {
    return detail::checked(detail::allocate_from(source, bytes, alignment));
  }
  TARN_LOCAL static void deallocate_to(Source& source, void* block, std::size_t bytes,
                                       std::size_t alignment) {
    detail::deallocate_to(source, block, bytes, alignment);
  }

  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    return allocate_(*source_, bytes, alignment);
  }
  void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
    deallocate_(*source_, block, bytes, alignment);
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
#if defined(__cpp_rtti)
    const auto* const same = dynamic_cast<const memory_resource*>(&other);
    return same != nullptr && same->source_ == source_;
#else
    return this == &other;  // Two resources of one source are then told apart: containers copy between them.
#endif
  }

  Source* source_;
  // Of the file that made the resource. \why the loader gives all files the first one's virtual functions.
  void* (*allocate_)(Source&, std::size_t, std::size_t);
  void (*deallocate_)(Source&, void*, std::size_t, std::size_t);
};

/// The general pool as a resource; any thread, during the whole life of the program.
inline std::pmr::memory_resource* default_resource() noexcept {
  static MemoryPool pool;
  // Never destroyed: static objects may free through it after main.
  alignas(memory_resource<MemoryPool>) static unsigned char storage[sizeof(memory_resource<MemoryPool>)];
  static auto* const resource = ::new (static_cast<void*>(storage)) memory_resource<MemoryPool>(pool);
  return resource;
}

namespace pmr {

/// The allocator of the containers in tarn::pmr: that of std::pmr, but with default_resource() where no
/// resource is given, also in copies of containers. Each converts to the other, and keeps the resource.
template <typename T>
class polymorphic_allocator : public std::pmr::polymorphic_allocator<T> {
 public:
  polymorphic_allocator() noexcept : polymorphic_allocator(default_resource()) {}
  polymorphic_allocator(std::pmr::memory_resource* resource) noexcept
      : std::pmr::polymorphic_allocator<T>(resource) {}
  template <typename U>
  polymorphic_allocator(const std::pmr::polymorphic_allocator<U>& other) noexcept
      : std::pmr::polymorphic_allocator<T>(other) {}
  polymorphic_allocator(const polymorphic_allocator&) noexcept = default;
  polymorphic_allocator& operator=(const polymorphic_allocator&) = delete;

  polymorphic_allocator select_on_container_copy_construction() const noexcept { return {}; }
};

}  // namespace pmr
}  // namespace TARN_NAMESPACE
