#include "general/blocks/from_malloc.h"

#include <malloc.h>

#include <cstdlib>

#include "general/blocks/large.h"
#include "general/options/setup.h"
#include "general/pools/system_blocks.h"
#include "os/fatal.h"
#include "thread/thread_heap.h"
#include "thread/watch/call_counts.h"

namespace tarn::internal {
namespace {

constinit std::atomic<std::size_t> live_bytes{0};

void deallocate(PoolHeader& pool, void* block) {
  std::size_t bytes = 0;
  if (!system_blocks.deallocate(pool, block, &bytes)) os::fatal("double free", block);
  live_bytes.fetch_sub(bytes, std::memory_order_relaxed);
  if (ThreadHeap* const heap = this_heap(); counts_calls(heap)) {
    os::LockGuard guard(heap->mutex);
    heap->calls->large.add_deallocation(bytes);
  }
}

std::size_t usable_size(PoolHeader&, const void* block) { return system_blocks.bytes_of_block(block); }

constexpr PoolOperations kOperations{.kind = "general pool",
                                     .record = PoolRecord::kNone,
                                     .deallocate = deallocate,
                                     .usable_size = usable_size};

// No registry has it, so its mutexes are never taken.
constinit PoolHeader general_pool{.operations = &kOperations};

bool serves_for_ours() { return block_source.load(std::memory_order_relaxed) == BlockSource::kMallocForOurs; }

constexpr PoolOperations kOperationsForOurs{
    .kind = "general pool",
    .record = PoolRecord::kNone,
    .deallocate = [](PoolHeader&, void* block) { std::free(block); },
    .usable_size = [](PoolHeader&,
                      const void* block) { return malloc_usable_size(const_cast<void*>(block)); },
    .reallocate = [](PoolHeader&, void* block,
                     std::size_t size) { return std::realloc(block, size == 0 ? 1 : size); }};
constinit PoolHeader pool_of_malloc{.operations = &kOperationsForOurs};

void* take(std::size_t size, std::size_t alignment) {
  if (!serves_for_ours()) return system_blocks.allocate(general_pool, size, alignment);
  void* block = nullptr;
  return posix_memalign(&block, alignment, size) == 0 ? block : nullptr;
}

}  // namespace

PoolHeader* pool_of_unknown() { return serves_for_ours() ? &pool_of_malloc : nullptr; }

bool takes_blocks_from_malloc_slow() {
  set_up_once();
  return block_source.load(std::memory_order_relaxed) >= BlockSource::kMalloc;
}

void* allocate_from_malloc(std::size_t size, std::size_t alignment) {
  constexpr std::size_t kLeastAlignment = 16;
  ThreadHeap* const heap = heap_of_this_thread();
  void* const block = size > kLargestRequest || alignment > kLargestRequest
                          ? nullptr  // a checker would rather stop the process than refuse
                          : take(size, alignment < kLeastAlignment ? kLeastAlignment : alignment);
  if (block == nullptr) return out_of_memory();
  if (!serves_for_ours()) live_bytes.fetch_add(size, std::memory_order_relaxed);
  if (counts_calls(heap)) {
    os::LockGuard guard(heap->mutex);
    heap->calls->large.add_allocation(size, size);
  }
  return block;
}

bool add_live_from_malloc(std::uintptr_t& behind, LivePicture& picture) {
  return system_blocks.add_live(general_pool, behind, picture);
}

std::size_t live_bytes_from_malloc() { return live_bytes.load(std::memory_order_relaxed); }

}  // namespace tarn::internal
