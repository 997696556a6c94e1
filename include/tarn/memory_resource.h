// std::pmr resources over the pools, for code that takes a std::pmr::memory_resource*.
//
//   tarn::memory_resource<tarn::Heap> resource(heap);      a Heap, an Arena, a FixedPool
//   tarn::default_resource()                               the general pool
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
  explicit memory_resource(Source& source) noexcept : source_(&source) {}

  Source& source() const noexcept { return *source_; }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    return detail::checked(detail::allocate_from(*source_, bytes, alignment));
  }
  void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
    detail::deallocate_to(*source_, block, bytes, alignment);
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    const auto* const same = dynamic_cast<const memory_resource*>(&other);
    return same != nullptr && same->source_ == source_;
  }

  Source* source_;
};

/// The general pool as a resource; any thread, during the whole life of the program.
inline std::pmr::memory_resource* default_resource() noexcept {
  static MemoryPool pool;
  // Never destroyed: static objects may free through it after main.
  alignas(memory_resource<MemoryPool>) static unsigned char storage[sizeof(memory_resource<MemoryPool>)];
  static auto* const resource = ::new (static_cast<void*>(storage)) memory_resource<MemoryPool>(pool);
  return resource;
}

}  // namespace TARN_NAMESPACE
