// The heaps of the library's own: for the chunks of arenas, and for tarn::allocate_sensitive. Each is made at
// its first use, and never ended.
//
// Threads: any. Several may make one at once; the registry accepts only the first.
#include "pool/heaps/library_heaps.h"

#include <atomic>

#include "general/pools/pool_registry.h"
#include "page/memory/metadata.h"
#include "pool/heaps/heap_classes.h"
#include "tarn/pools.h"
#include "tarn/sensitive.h"

namespace tarn::internal {
namespace {

using detail::HeapState;

/// Who wipes the blocks of a sensitive heap.
enum class Wiped : std::uint8_t { kByHeap, kByUsers };

class LibraryHeap {
 public:
  /// \returns nullptr when memory is refused. The arguments are always the same.
  HeapState* get(const HeapOptions& options, const PoolOperations& operations, Wiped wiped = Wiped::kByHeap) {
    PoolHeader* made = made_.load(std::memory_order_acquire);
    if (made == nullptr) [[unlikely]] {
      if (!make(options, operations, wiped)) return nullptr;
      made = made_.load(std::memory_order_acquire);
    }
    return static_cast<HeapState*>(made);
  }

 private:
  bool make(const HeapOptions& options, const PoolOperations& operations, Wiped wiped) {
    HeapState* const state = make_heap_state(options, operations, false);
    if (state == nullptr) return false;
    if (wiped == Wiped::kByUsers) state->wipes = false;
    if (!pool_registry.add_only(*state, made_)) metadata.end(state);
    return true;
  }

  std::atomic<PoolHeader*> made_{nullptr};
};

constinit LibraryHeap chunks, sensitive_chunks, sensitive_blocks;

// Blocks in an arena's chunk are not freed one by one.
void ignore(PoolHeader&, void*) {}

constexpr PoolOperations kOfArenas = [] {
  PoolOperations operations = operations_of_heap("arenas");
  operations.deallocate = ignore;
  return operations;
}();

constexpr PoolOperations kOfSensitiveBlocks = [] {
  PoolOperations operations = operations_of_heap("heap");
  operations.reallocate = reallocate_of_heap;
  return operations;
}();

HeapState* sensitive_heap() {
  return sensitive_blocks.get({.name = "sensitive", .sensitive = true}, kOfSensitiveBlocks);
}

}  // namespace

detail::HeapState* arena_heap() { return chunks.get({.name = "arenas"}, kOfArenas); }

// The arenas wipe what they have used of a chunk.
detail::HeapState* sensitive_arena_heap() {
  return sensitive_chunks.get({.name = "sensitive arenas", .sensitive = true}, kOfArenas, Wiped::kByUsers);
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
