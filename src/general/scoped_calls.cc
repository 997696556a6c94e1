#include "general/scoped_calls.h"

#include "general/options/block_source.h"
#include "general/options/setup.h"
#include "general/pools/system_blocks.h"
#include "os/checker.h"
#include "os/fatal.h"
#include "tarn/testing.h"

namespace tarn::internal {

void count_in_scopes(const RecordedCall& call, std::size_t bytes, const void* given) {
  if (call.counted_in() == nullptr) return;
  const std::size_t more = given == nullptr ? 0 : bytes_in_general_pool(given);
  for (detail::ScopedCalls* scope = call.counted_in(); scope != nullptr; scope = scope->outer) {
    scope->allocations += given != nullptr ? 1 : 0;
    scope->live_bytes += static_cast<std::ptrdiff_t>(more - bytes);
    if (scope->live_bytes > scope->peak_bytes) scope->peak_bytes = scope->live_bytes;
  }
}

namespace {

void note_scopes(const ThreadHeap& heap) {
  this_thread().is_counted = heap.scoped_calls != nullptr;
  show_records_of_this_thread();
}

}  // namespace
}  // namespace tarn::internal

namespace TARN_NAMESPACE::detail {

using namespace internal;

Counting begin_counting(ScopedCalls& calls) noexcept {
  set_up_once();
  ThreadHeap* const heap = recorded_heap();
  if (heap == nullptr || !malloc_is_ours() || takes_blocks_from_malloc())
    return os::checked_blocks() != os::CheckedBlocks::kNone ? Counting::kOff : Counting::kImpossible;
  calls.thread = heap;
  calls.outer = heap->scoped_calls;
  heap->scoped_calls = &calls;
  note_scopes(*heap);
  return Counting::kOn;
}

void end_counting(ScopedCalls& calls) noexcept {
  if (calls.thread == nullptr) return;
  ThreadHeap* const heap = this_heap();
  ScopedCalls* none = nullptr;
  ScopedCalls** link = heap == calls.thread ? &heap->scoped_calls : &none;
  while (*link != nullptr && *link != &calls) link = &(*link)->outer;
  if (*link == nullptr) os::fatal("end of a test's scope by another thread, or a second end of it", &calls);
  *link = calls.outer;
  note_scopes(*heap);
}

}  // namespace TARN_NAMESPACE::detail
