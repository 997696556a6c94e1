#include "general/large_block.h"

#include <cerrno>

#include "general/counted_calls.h"
#include "general/large.h"
#include "general/setup.h"

namespace tarn::internal {

void* out_of_memory() {
  errno = ENOMEM;
  return nullptr;
}

void* allocate_large_block(std::size_t size, std::size_t alignment, std::size_t room, bool* is_zeroed) {
  ThreadHeap* const heap = heap_of_this_thread();  // also reads the options
  const Span* const span = allocate_large(size, alignment, room);
  if (span == nullptr) return out_of_memory();
  if (is_zeroed != nullptr) *is_zeroed = span->is_zeroed;
  if (counts_calls(heap)) {
    os::LockGuard guard(heap->mutex());
    count_allocation(heap->calls->large, size, span->bytes());
  }
  return span->start;
}

}  // namespace tarn::internal
