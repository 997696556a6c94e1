// The calls of a HandlePool that are no hits: slots from the thread's magazine or the slabs, and ends of
// objects that are not the calling thread's alone to end.
#include "tarn/detail/handle_slots.h"

#include "central/slabs/class_slabs.h"
#include "central/slabs/remote_free.h"
#include "general/options/memory_limits.h"
#include "general/options/setup.h"
#include "general/pools/system_blocks.h"
#include "general/slow_door.h"
#include "os/locks/owner_lock.h"
#include "os/memory/memory.h"
#include "pool/freed_block.h"
#include "pool/handles/handle_pool_state.h"
#include "pool/watched_blocks.h"
#include "thread/pools/pool_owner.h"
#include "thread/registry.h"
#include "thread/thread_heap.h"

namespace TARN_NAMESPACE::detail {

using namespace internal;

namespace {

// \returns nullptr where a call goes to the slabs.
ThreadHeap* heap_with_slots(const HandlePoolState& state) {
  const bool has_magazines = state.source == BlockPoolState::Source::kRecords;
  return has_magazines && !checks_pools() ? heap_of_this_thread() : nullptr;
}

SlotWord* take_slot(HandlePoolState& state) {
  ThreadHeap* const heap = heap_with_slots(state);
  return static_cast<SlotWord*>(heap != nullptr ? refill_and_take(*heap, state.size_class)
                                                : take_from_slabs(state));
}

void give_slot(HandlePoolState& state, SlotWord& word) {
  ThreadHeap* const heap = heap_with_slots(state);
  if (heap == nullptr) return give_to_slabs(state, &word);
  ReturnedPages returned;
  internal::deallocate(*heap, &word, state.size_class, returned);
}

// Whether another thread has made some meanwhile.
bool has_free_slots(const HandlePoolState& state) {
  os::LockGuard guard(state.owner->mutex);
  return !state.owner->of(state.size_class).available.is_empty();
}

// \returns a slot with memory; nullptr when it is refused.
SlotWord* take_or_make_slot(HandlePoolState& state) {
  for (;;) {
    if (SlotWord* const word = take_slot(state)) return word;
    ReturnedPages returned;
    const ProgramGuard guard(state.mutex);
    if (has_free_slots(state) || add_free_slots_locked(state)) continue;
    return_free_blocks_of_caller(*state.owner, returned);  // and what ended threads have left
    return static_cast<SlotWord*>(take_block(*state.owner, state.size_class, returned));
  }
}

std::size_t free_count(HandlePoolState& state, ReturnedPages& returned) {
  os::LockGuard guard(state.owner->mutex);
  collect_pending_locked(*state.owner, state.size_class, returned);
  return free_blocks(state.owner->of(state.size_class));
}

HandlePlace refuse(HandlePoolState& state) {
  state.note_refusal();
  return {0, nullptr};
}

// From now on any thread may end the objects that the thread of a number has made and makes. \why no mutex:
// the thread may be in a signal handler, inside of its mark, and wait for what others hold.
void share(HandlePoolState& state, std::uint32_t maker) {
  state.makers_alone[maker].store(kNoMaker, std::memory_order_seq_cst);
  os::OwnerLock::fence_all_threads();
  registry.for_each_cache([&](ThreadCache* cache, std::size_t) {  // it stays, whatever becomes of its thread
    if (cache->thread_number == maker) os::OwnerLock::wait_for(mark_of(*cache));
  });
  state.is_shared[maker].store(true, std::memory_order_release);
}

// \returns whether this call has ended the object.
bool end_generation(HandlePoolState& state, SlotWord& word, std::uint64_t handle) {
  std::uint64_t live = word.load(std::memory_order_acquire);
  if (handle_of(live) != handle) return false;
  if (!ProgramGuard::is_needed()) {
    word.store(ended_word(handle), std::memory_order_relaxed);
    return true;
  }
  const std::uint32_t maker = maker_of(live);
  if (maker != 0 && !state.is_shared[maker].load(std::memory_order_acquire)) {
    const ThreadHeap* const heap = this_heap();
    OwnerMark* const own =
        heap != nullptr && heap->cache->thread_number == maker ? &mark_of(*heap->cache) : nullptr;
    if (own != nullptr && !own->is_inside()) {
      own->enter(os::OwnerLock::fences);
      if (end_object_inside(*own, word, handle, state.makers_alone[maker])) return true;
    }
    if (own == nullptr || !own->is_inside()) share(state, maker);  // else this is a signal handler
  }
  return word.compare_exchange_strong(live, ended_word(handle), std::memory_order_acq_rel,
                                      std::memory_order_acquire);
}

bool may_be_live(const HandlePoolState& state, std::uint64_t handle) {
  return (generation_of(handle) & 1) != 0 &&
         slot_of(handle) < slot_count_of(*state.front).load(std::memory_order_acquire);
}

}  // namespace

void wipe_if_sensitive(const HandlePoolState& state, void* object) {
  if (state.wipes_freed()) internal::wipe_block(object, state.type.bytes, state.type.poisons);
}

void free_object_of_malloc(HandlePoolState& state, std::uint32_t slot) {
  std::size_t bytes = 0;
  void* const block = block_of_malloc(state, slot).exchange(nullptr, std::memory_order_relaxed);
  system_blocks.deallocate(state, block, &bytes);
}

namespace {

// \returns the block of malloc's that is the object of a slot now; nullptr when it is refused.
void* take_object_of_malloc(HandlePoolState& state, std::uint32_t slot) {
  void* const block = system_blocks.allocate(state, state.type.bytes, state.type.alignment);
  block_of_malloc(state, slot).store(block, std::memory_order_relaxed);
  return block;
}

}  // namespace

HandlePlace take_handle_slot(HandleFront& front) noexcept {
  const SlowDoor door;
  HandlePoolState& state = *front.state;
  SlotWord* const word = take_within_limits([&] { return take_or_make_slot(state); });
  if (word == nullptr) return refuse(state);
  const std::uint64_t handle = next_handle(word->load(std::memory_order_relaxed));
  // Over malloc a slot only names its object: that is made now, and the slot goes back if malloc refuses.
  if (front.is_over_malloc) {
    void* const block = take_object_of_malloc(state, slot_of(handle));
    if (block == nullptr) return give_slot(state, *word), refuse(state);
    return {handle, block};
  }
  void* const object = object_of_slot(state, slot_of(handle));
  watched::note_object_made(state, object, state.type.bytes);
  return {handle, object};
}

void give_back_handle_slot(HandleFront& front, std::uint32_t slot) noexcept {
  const SlowDoor door;
  HandlePoolState& state = *front.state;
  void* const object = object_of_slot(state, slot);
  watched::note_object_ended(object);
  front.is_over_malloc ? free_object_of_malloc(state, slot) : wipe_if_sensitive(state, object);
  SlotWord& word = word_of_slot(state, slot);
  const bool is_used_up = generation_of(word.load(std::memory_order_relaxed)) > HandleFront::kLastGeneration;
  is_used_up ? word.store(0, std::memory_order_release) : give_slot(state, word);
}

void* end_handle_object(HandleFront& front, std::uint64_t handle) noexcept {
  HandlePoolState& state = *front.state;
  if (!may_be_live(state, handle)) return nullptr;
  if (!end_generation(state, word_of_slot(state, slot_of(handle)), handle)) return nullptr;
  return object_of_slot(state, slot_of(handle));
}

std::size_t handle_pool_prewarm(HandleFront& front, std::size_t count) noexcept {
  HandlePoolState& state = *front.state;
  if (count == 0 || front.is_over_malloc) return count;
  const SlowDoor door;
  const std::size_t wanted = may_be_had(count, state.type.stride) ? count : 0;
  std::size_t free = 0;
  take_within_limits([&] {
    ReturnedPages returned;
    const ProgramGuard guard(state.mutex);
    while ((free = free_count(state, returned)) < wanted && add_free_slots_locked(state)) {
    }
    // Of slots that were free before, the system may not have backed the objects' pages yet.
    for (const Span* span = state.objects.first(); span != nullptr; span = span->next)
      os::populate(span->first_page(), span->bytes());
    return free >= wanted;
  });
  return free;
}

std::size_t release_unused_slots(HandlePoolState& state, ReturnedPages& returned) {
  const ProgramGuard guard(state.mutex);
  if (state.walks != 0 || state.has_ended || state.front->is_over_malloc) return 0;
  return_free_blocks_of_caller(*state.owner, returned);
  return release_unused_groups_locked(state, returned);
}

std::size_t handle_pool_release_unused(HandleFront& front) noexcept {
  ReturnedPages returned;
  return release_unused_slots(*front.state, returned);
}

}  // namespace TARN_NAMESPACE::detail
