#include "general/from_malloc.h"

#include "general/large.h"
#include "general/setup.h"
#include "general/system_blocks.h"
#include "os/fatal.h"
#include "thread/call_counts.h"
#include "thread/thread_heap.h"

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

}  // namespace

bool takes_blocks_from_malloc_slow() {
  set_up_once();
  return block_source.load(std::memory_order_relaxed) == BlockSource::kMalloc;
}

void* allocate_from_malloc(std::size_t size, std::size_t alignment) {
  constexpr std::size_t kLeastAlignment = 16;
  ThreadHeap* const heap = heap_of_this_thread();
  void* const block = size > kLargestRequest || alignment > kLargestRequest
                          ? nullptr  // a checker would rather stop the process than refuse
                          : system_blocks.allocate(general_pool, size,
                                                   alignment < kLeastAlignment ? kLeastAlignment : alignment);
  if (block == nullptr) return out_of_memory();
  live_bytes.fetch_add(size, std::memory_order_relaxed);
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
