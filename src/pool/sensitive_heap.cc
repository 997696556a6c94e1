#include "pool/sensitive_heap.h"

#include <cstring>

#include "pool/only_heap.h"
#include "tarn/pools.h"
#include "tarn/sensitive.h"

namespace tarn::internal {
namespace {

using detail::HeapState;

void deallocate_any(PoolHeader& pool, void* block) {
  detail::heap_deallocate(static_cast<HeapState*>(&pool), block);
}

void* reallocate_any(PoolHeader& pool, void* block, std::size_t size) {
  return detail::heap_reallocate(static_cast<HeapState*>(&pool), block, size);
}

constexpr PoolOperations kOperations{.kind = "heap",
                                     .record = PoolRecord::kHeap,
                                     .deallocate = deallocate_any,
                                     .usable_size = usable_size_in_heap,
                                     .reallocate = reallocate_any,
                                     .use = use_of_heap,
                                     .release_unused = release_unused_of_heap};

constinit OnlyHeap only_heap;

HeapState* sensitive_heap() { return only_heap.get({.name = "sensitive", .sensitive = true}, kOperations); }

}  // namespace

void* move_to_sensitive_heap(PoolHeader& pool, void* block, std::size_t usable, std::size_t size) {
  void* const moved = tarn::allocate_sensitive(size);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, block, usable);
  pool.operations->deallocate(pool, block);
  return moved;
}

}  // namespace tarn::internal

namespace TARN_NAMESPACE {

using namespace internal;

void* allocate_sensitive(std::size_t size) noexcept { return detail::heap_allocate(sensitive_heap(), size); }

void* allocate_sensitive(std::size_t size, std::size_t alignment) noexcept {
  return detail::heap_allocate(sensitive_heap(), size, alignment);
}

void deallocate_sensitive(void* block) noexcept {
  if (block != nullptr) detail::heap_deallocate(sensitive_heap(), block);
}

}  // namespace TARN_NAMESPACE

void* tarn_allocate_sensitive(std::size_t size) noexcept { return tarn::allocate_sensitive(size); }

void* tarn_allocate_sensitive_aligned(std::size_t size, std::size_t alignment) noexcept {
  return tarn::allocate_sensitive(size, alignment);
}

void tarn_deallocate_sensitive(void* block) noexcept { tarn::deallocate_sensitive(block); }
