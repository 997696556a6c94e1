#include "general/slow_door.h"

#include "central/owners.h"
#include "central/slabs/put_right.h"
#include "central/slabs/slab.h"
#include "general/pools/pool_registry.h"
#include "os/process/interruption.h"
#include "page/give_back/background.h"
#include "page/spans/page_map.h"
#include "thread/magazine.h"
#include "thread/this_thread.h"

namespace tarn::internal {
namespace {

void let_go_all_locks() {
  os::set_fork_owner(true);
  os::fork_set.unlock_all_in_child();
  background.forget_after_fork();  // a look that the left call was at
}

bool is_of_a_slab_and_not_free(void* block) {
  const Span* const span = page_map.find(block);
  if (!is_slab(span) || span->owner.load(std::memory_order_relaxed) == nullptr) return false;
  BlockIndex index{};
  return !is_marked_free_locked(*slab_of_block(block, &index), index);
}

// A flush had returned blocks and not yet closed their gap; a refill had made its record full.
void forget_returned_blocks(ThreadHeap& heap) {
  for (const SizeClass size_class : all_classes()) {
    void** const blocks = heap.magazines.at(size_class).blocks;
    if (blocks == nullptr) continue;
    unsigned left = 0;
    for (unsigned i = 1; i <= count_of(heap, size_class); ++i)
      if (is_of_a_slab_and_not_free(blocks[i])) blocks[++left] = blocks[i];
    set_record(heap, size_class, left);
  }
}

void put_all_right() {
  let_go_all_locks();
  owners.for_each([](SlabOwner& owner) { put_right_locked(owner); });
  ThreadHeap* const heap = this_heap();
  if (heap == nullptr) return;
  heap->owner = heap->home;
  forget_returned_blocks(*heap);
}

}  // namespace

TARN_DEFINE_THREAD_VARIABLE(std::uintptr_t, noted_slow_door) = 0;

std::uintptr_t SlowDoor::defer_cancellation() { return os::defer_cancellation() ? kAsynchronous : 0; }

void SlowDoor::allow_cancellation() { os::allow_cancellation(); }

std::uintptr_t SlowDoor::end_left_call() {
  const std::uintptr_t left = noted();
  if (os::is_on_signal_stack() || os::is_fork_owner()) return left;
  noted() = 0;
  if (os::is_only_thread()) put_all_right();
  if ((left & kAsynchronous) != 0) allow_cancellation();
  return 0;
}

}  // namespace tarn::internal
