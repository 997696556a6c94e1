#include "pool/arena_heap.h"

#include "pool/heap_classes.h"
#include "pool/only_heap.h"

namespace tarn::internal {
namespace {

// Blocks in an arena's chunk are not freed one by one.
void ignore(PoolHeader&, void*) {}

constexpr PoolOperations kOperations{.kind = "arenas",
                                     .record = PoolRecord::kHeap,
                                     .deallocate = ignore,
                                     .usable_size = usable_size_in_heap,
                                     .use = use_of_heap,
                                     .release_unused = release_unused_of_heap,
                                     .add_live = add_live_of_heap,
                                     .owner = owner_of_heap};

constinit OnlyHeap plain_heap, sensitive_heap;

}  // namespace

detail::HeapState* arena_heap() { return plain_heap.get({.name = "arenas"}, kOperations); }

// The arenas wipe what they have used of a chunk.
detail::HeapState* sensitive_arena_heap() {
  return sensitive_heap.get({.name = "sensitive arenas", .sensitive = true}, kOperations, Wiped::kByUsers);
}

}  // namespace tarn::internal
