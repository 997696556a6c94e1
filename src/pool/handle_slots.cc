// The free slots of a HandlePool: a stack under the pool's mutex, and a magazine for each thread of several.
#include "tarn/detail/handle_slots.h"

#include <algorithm>
#include <new>

#include "general/memory_limits.h"
#include "general/system_blocks.h"
#include "os/owner_lock.h"
#include "page/metadata.h"
#include "pool/handle_chunks.h"
#include "pool/handle_pool_state.h"
#include "pool/watched_blocks.h"
#include "thread/registry.h"
#include "thread/this_thread.h"

namespace TARN_NAMESPACE::detail {

using namespace internal;

constinit NoHandleMagazine no_handle_magazine;

namespace {

std::size_t magazine_bytes(const HandlePoolState& state) {
  return sizeof(HandleMagazine) + (state.magazine_slots + 1) * sizeof(std::uint64_t);
}

// \returns nullptr when the thread has none. \why not by the thread's cache, which a scope hides.
HandleMagazine* own_magazine(const HandlePoolState& state) {
  const ThreadHeap* const heap = this_heap();
  return heap != nullptr ? magazine_of(state, heap->cache->thread_number) : nullptr;
}

// What it has at most.
std::uint32_t room_of(HandleMagazine& magazine) {
  return static_cast<std::uint32_t>(magazine.limit - magazine.places());
}

// \pre the mutex is held, and the thread has no magazine. \returns nullptr when it cannot have one.
HandleMagazine* make_own_magazine(HandlePoolState& state) {
  if (HandleMagazine* const made = own_magazine(state)) return made;  // others may know it
  const ThreadHeap* const heap = this_heap();
  const bool may_have_one = !state.front->is_over_malloc && !state.is_sensitive;
  if (heap == nullptr || heap->cache->thread_number == 0 || !may_have_one) return nullptr;
  void* const record = metadata.allocate(magazine_bytes(state));
  if (record == nullptr) return nullptr;
  auto* const magazine = new (record) HandleMagazine{};
  *magazine->places() = 0;
  magazine->top = magazine->places();
  magazine->limit = magazine->places() + state.magazine_slots;
  magazine->fences = &os::OwnerLock::fences;
  magazine->ends_alone = heap->cache->thread_number;
  magazine->number = static_cast<std::uint8_t>(heap->cache->thread_number);
  state.magazines[magazine->number].store(magazine, std::memory_order_release);
  return magazine;
}

// What a thread without a heap gets with one, which an ended thread may have left with its magazine.
HandleMagazine* magazine_if_earned(const HandlePoolState& state) {
  return attach_if_earned() != nullptr ? own_magazine(state) : nullptr;
}

void note_refusal(HandlePoolState& state) { state.refusals.fetch_add(1, std::memory_order_relaxed); }

// \pre the mutex is held, and the magazine is empty.
void refill(HandlePoolState& state, HandleMagazine& magazine) {
  const auto left = static_cast<std::size_t>(state.free_top - state.free_handles);
  const std::size_t count = std::min<std::size_t>(left, room_of(magazine) / 2);
  state.free_top -= count;
  std::copy(state.free_top, state.free_top + count, magazine.places() + 1);
  magazine.top.store(magazine.places() + count, std::memory_order_release);
}

// Moves the oldest slots to the stack. \pre the mutex is held.
void flush(HandlePoolState& state, HandleMagazine& magazine, std::size_t moved) {
  std::uint64_t* const first = magazine.places() + 1;
  std::uint64_t* const end = magazine.top.load(std::memory_order_relaxed) + 1;
  // Fewer in the magazine first: a child of a fork in between loses slots, and has none twice.
  magazine.top.store(magazine.places(), std::memory_order_release);
  state.free_top = std::copy(first, first + moved, state.free_top);
  std::uint64_t* const new_end = std::copy(first + moved, end, first);
  magazine.top.store(new_end - 1, std::memory_order_release);
}

// Moves what ended threads have left in their magazines to the stack. \pre the mutex is held.
void flush_left(HandlePoolState& state) {
  // No thread gets such a heap meanwhile, and with it the magazine.
  registry.for_each_heap([&state](const ThreadHeap& heap) {
    if (!heap.is_unused) return;
    if (HandleMagazine* const magazine = magazine_of(state, heap.cache->thread_number))
      flush(state, *magazine, count_of(*magazine));
  });
}

// Takes a slot of the stack, and some more into the magazine if it is empty. \returns 0 when memory is
// refused or all slots are taken.
std::uint64_t take_from_stack(HandlePoolState& state, HandleMagazine*& magazine) {
  ReturnedPages returned;  // given back behind the guard
  const ProgramGuard guard(state.mutex);
  if (state.free_top == state.free_handles && !grow_handle_pool(state, returned)) {
    flush_left(state);
    if (state.free_top == state.free_handles) return 0;
  }
  const std::uint64_t handle = *--state.free_top;
  if (magazine == nullptr) magazine = make_own_magazine(state);
  if (magazine != nullptr && count_of(*magazine) == 0) refill(state, *magazine);
  return handle;
}

std::uint64_t take_free_slot(HandlePoolState& state, HandleMagazine*& magazine) {
  if (magazine == nullptr) magazine = magazine_if_earned(state);
  if (magazine != nullptr)
    if (const std::uint64_t handle = magazine->pop()) return handle;
  return take_within_limits([&] { return take_from_stack(state, magazine); });
}

void give_back_slot(HandlePoolState& state, std::uint32_t slot) {
  HandleMagazine* magazine = own_magazine(state);
  if (magazine == nullptr) magazine = magazine_if_earned(state);
  if (magazine == nullptr) {
    const ProgramGuard guard(state.mutex);
    magazine = make_own_magazine(state);  // also for a thread that only ends objects
    if (magazine == nullptr) {
      *state.free_top++ = next_handle(state, slot);  // the stack has room for every slot
      return;
    }
  }
  if (magazine->top.load(std::memory_order_relaxed) == magazine->limit) {
    const ProgramGuard guard(state.mutex);
    flush(state, *magazine, room_of(*magazine) / 2);
  }
  magazine->push(magazine->top.load(std::memory_order_relaxed), next_handle(state, slot));
}

// From now on any thread may end the objects that the magazine's thread has made and makes.
void share(HandlePoolState& state, HandleMagazine& magazine) {
  const os::LockGuard guard(state.mutex);
  if (magazine.is_shared.load(std::memory_order_relaxed)) return;
  magazine.ends_alone.store(HandleMagazine::kNobody, std::memory_order_seq_cst);
  os::OwnerLock::fence_all_threads();
  os::OwnerLock::wait_for(magazine.mark);
  magazine.is_shared.store(true, std::memory_order_release);
}

// \returns whether this call has ended the object.
bool end_generation(HandlePoolState& state, std::atomic<std::uint32_t>& generation,
                    const std::atomic<std::uint8_t>& maker, std::uint32_t live) {
  if (generation.load(std::memory_order_acquire) != live) return false;
  if (!ProgramGuard::is_needed()) {
    generation.store(live + 1, std::memory_order_relaxed);
    return true;
  }
  HandleMagazine* const magazine = magazine_of(state, maker.load(std::memory_order_relaxed));
  if (magazine != nullptr && !magazine->is_shared.load(std::memory_order_acquire)) {
    if (magazine == own_magazine(state)) {
      magazine->mark.enter(*magazine->fences);
      if (end_object_inside(*magazine, generation, maker, live)) return true;
    }
    share(state, *magazine);
  }
  return generation.compare_exchange_strong(live, live + 1, std::memory_order_acq_rel);
}

bool may_be_live(const HandlePoolState& state, std::uint64_t handle) {
  return (generation_of(handle) & 1) != 0 &&
         slot_of(handle) < slot_count_of(*state.front).load(std::memory_order_acquire);
}

}  // namespace

std::size_t release_unused_slots(HandlePoolState& state, ReturnedPages& returned) {
  const ProgramGuard guard(state.mutex);
  if (state.walks != 0 || state.has_ended || state.front->is_over_malloc) return 0;
  if (HandleMagazine* const magazine = own_magazine(state)) flush(state, *magazine, count_of(*magazine));
  flush_left(state);
  for (std::uint32_t i = 0; i < state.chunk_count; ++i) chunk_at(state, i).free_count = 0;
  for (const std::uint64_t* handle = state.free_handles; handle != state.free_top; ++handle)
    ++chunk_of_slot(state, slot_of(*handle)).free_count;
  const auto is_unused = [&](const HandleChunk& chunk) {
    return chunk.free_count + chunk.retired_count == chunk.usable_count;
  };
  state.free_top = std::remove_if(state.free_handles, state.free_top, [&](std::uint64_t handle) {
    return is_unused(chunk_of_slot(state, slot_of(handle)));
  });
  const std::size_t before = state.mapped_bytes;
  for (std::uint32_t i = state.order_count; i-- > 0;)
    if (is_unused(*state.order[i])) end_memory_of_chunk(state, *state.order[i], returned);
  return before - state.mapped_bytes;
}

void free_object_of_malloc(HandlePoolState& state, HandleChunk& chunk, std::uint32_t index) {
  std::size_t bytes = 0;
  void* const block = chunk.blocks[index].exchange(nullptr, std::memory_order_relaxed);
  system_blocks.deallocate(state, block, &bytes);
}

void end_magazines(HandlePoolState& state) {
  for (unsigned number = 0; number < HandlePoolState::kMagazines; ++number) {
    HandleMagazine* const magazine = magazine_of(state, number);
    state.magazines[number].store(&no_handle_magazine.magazine, std::memory_order_relaxed);
    if (magazine != nullptr) metadata.free(magazine, magazine_bytes(state));
  }
}

HandlePlace take_handle_slot(HandleFront& front) noexcept {
  HandlePoolState& state = *front.state;
  HandleMagazine* magazine = own_magazine(state);
  const std::uint64_t handle = take_free_slot(state, magazine);
  if (handle == 0) {
    note_refusal(state);
    return {0, nullptr};
  }
  const std::uint32_t slot = slot_of(handle);
  HandleChunk& chunk = chunk_of_slot(state, slot);
  const std::uint32_t index = index_of_slot(state, slot);
  chunk.makers(state.type.shift)[index].store(magazine != nullptr ? magazine->number : 0,
                                              std::memory_order_relaxed);
  if (front.is_over_malloc) {
    void* const block = system_blocks.allocate(state, state.type.bytes, state.type.alignment);
    if (block == nullptr) {
      give_back_slot(state, slot);  // from now on it is another thread's
      note_refusal(state);
      return {0, nullptr};
    }
    chunk.blocks[index].store(block, std::memory_order_relaxed);
  }
  void* const object = chunk.object(index, state.type.stride);
  if (!front.is_over_malloc) watched::note_object_made(state, object, state.type.bytes);
  return {handle, object};
}

void give_back_handle_slot(HandleFront& front, std::uint32_t slot) noexcept {
  HandlePoolState& state = *front.state;
  HandleChunk& chunk = chunk_of_slot(state, slot);
  const std::uint32_t index = index_of_slot(state, slot);
  watched::note_object_ended(chunk.object(index, state.type.stride));
  wipe_if_sensitive(state, chunk.object(index, state.type.stride));
  if (front.is_over_malloc) free_object_of_malloc(state, chunk, index);
  if (chunk.generations()[index].load(std::memory_order_relaxed) != HandleFront::kRetired)
    return give_back_slot(state, slot);
  const ProgramGuard guard(state.mutex);
  ++chunk.retired_count;
}

void* end_handle_object(HandleFront& front, std::uint64_t handle) noexcept {
  HandlePoolState& state = *front.state;
  if (!may_be_live(state, handle)) return nullptr;
  HandleChunk& chunk = chunk_of_slot(state, slot_of(handle));
  const std::uint32_t index = index_of_slot(state, slot_of(handle));
  const std::atomic<std::uint8_t>& maker = chunk.makers(state.type.shift)[index];
  if (!end_generation(state, chunk.generations()[index], maker, generation_of(handle))) return nullptr;
  return chunk.object(index, state.type.stride);
}

std::size_t handle_pool_prewarm(HandleFront& front, std::size_t count) noexcept {
  HandlePoolState& state = *front.state;
  if (count == 0 || front.is_over_malloc) return count;
  const std::size_t wanted = may_be_had(count, state.type.stride) ? count : 0;
  std::size_t made = 0;
  take_within_limits([&] {
    ReturnedPages returned;
    const ProgramGuard guard(state.mutex);
    const auto free_count = [&] { return static_cast<std::size_t>(state.free_top - state.free_handles); };
    const std::size_t before = free_count();
    while (free_count() < wanted && grow_handle_pool(state, returned)) {
    }
    // Slots that had an object are taken before those that had none, so that their number tells the peak.
    std::rotate(state.free_handles, state.free_handles + before, state.free_top);
    populate_chunks(state);
    made = free_count();
    return made >= wanted;
  });
  return made;
}

std::size_t handle_pool_release_unused(HandleFront& front) noexcept {
  ReturnedPages returned;
  return release_unused_slots(*front.state, returned);
}

}  // namespace TARN_NAMESPACE::detail
