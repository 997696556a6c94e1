// The free slots of a HandlePool: a stack under the pool's mutex, and a magazine for each thread of several.
#include "tarn/detail/handle_slots.h"

#include <algorithm>
#include <new>

#include "general/memory_limits.h"
#include "general/system_blocks.h"
#include "page/metadata.h"
#include "pool/handle_chunks.h"
#include "pool/handle_pool_state.h"
#include "thread/this_thread.h"

namespace TARN_NAMESPACE::detail {

using namespace internal;

namespace {

HandleMagazine* magazine_of(const HandlePoolState& state, const ThreadHeap* heap) {
  if (heap == nullptr) return nullptr;
  const std::uint64_t hash = address_of(heap) * 0x9e3779b97f4a7c15u >> 56;
  for (unsigned i = 0; i < HandlePoolState::kProbes; ++i) {
    HandleMagazine* const magazine =
        state.magazines[(hash + i) % HandlePoolState::kMagazines].load(std::memory_order_acquire);
    if (magazine == nullptr) return nullptr;
    if (magazine->owner == heap) return magazine;
  }
  return nullptr;
}

// Makes the heap a magazine if it has none and there is a place. \pre the mutex is held.
HandleMagazine* find_or_make_magazine(HandlePoolState& state, const ThreadHeap* heap) {
  if (heap == nullptr) return nullptr;
  const std::uint64_t hash = address_of(heap) * 0x9e3779b97f4a7c15u >> 56;
  for (unsigned i = 0; i < HandlePoolState::kProbes; ++i) {
    std::atomic<HandleMagazine*>& place = state.magazines[(hash + i) % HandlePoolState::kMagazines];
    if (HandleMagazine* const magazine = place.load(std::memory_order_relaxed)) {
      if (magazine->owner == heap) return magazine;
      continue;
    }
    void* const record = metadata.allocate(sizeof(HandleMagazine));
    if (record == nullptr) return nullptr;
    auto* const magazine = new (record) HandleMagazine{};
    magazine->owner = heap;
    place.store(magazine, std::memory_order_release);
    return magazine;
  }
  return nullptr;
}

void note_refusal(HandlePoolState& state) { state.refusals.fetch_add(1, std::memory_order_relaxed); }

std::uint32_t take_from_stack(HandlePoolState& state, ReturnedPages& returned) {
  HandleFront& front = *state.front;
  if (front.free_top == front.free_slots && !grow_handle_pool(state, returned)) {
    note_refusal(state);
    return HandleFront::kNoSlot;
  }
  return *--front.free_top;
}

// Takes a slot of the stack, and some more into the magazine if it is empty.
std::uint32_t take_slot_slow(HandlePoolState& state, HandleMagazine* magazine) {
  ReturnedPages returned;  // given back behind the guard
  const ProgramGuard guard(state.mutex);
  const std::uint32_t slot = take_from_stack(state, returned);
  if (!ProgramGuard::is_needed() || slot == HandleFront::kNoSlot) return slot;
  if (magazine == nullptr) magazine = find_or_make_magazine(state, this_heap());
  if (magazine == nullptr || magazine->count.load(std::memory_order_relaxed) != 0) return slot;
  HandleFront& front = *state.front;
  const auto left = static_cast<std::size_t>(front.free_top - front.free_slots);
  const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(left, state.magazine_slots / 2));
  front.free_top -= count;
  std::copy(front.free_top, front.free_top + count, magazine->slots);
  magazine->count.store(count, std::memory_order_release);
  return slot;
}

std::uint32_t take_slot(HandlePoolState& state) {
  HandleMagazine* magazine = nullptr;
  if (ProgramGuard::is_needed()) {
    magazine = magazine_of(state, this_heap());
    if (magazine != nullptr)
      if (const std::uint32_t count = magazine->count.load(std::memory_order_relaxed); count != 0) {
        const std::uint32_t slot = magazine->slots[count - 1];
        magazine->count.store(count - 1, std::memory_order_release);
        return slot;
      }
    if (magazine == nullptr) attach_if_earned();
  }
  std::uint32_t slot = HandleFront::kNoSlot;
  take_within_limits([&] {
    slot = take_slot_slow(state, magazine);
    return slot != HandleFront::kNoSlot;
  });
  return slot;
}

void give_back_slot(HandlePoolState& state, std::uint32_t slot) {
  HandleMagazine* const magazine = ProgramGuard::is_needed() ? magazine_of(state, this_heap()) : nullptr;
  std::uint32_t count = magazine != nullptr ? magazine->count.load(std::memory_order_relaxed) : 0;
  if (magazine == nullptr || count == state.magazine_slots) {
    const ProgramGuard guard(state.mutex);
    HandleFront& front = *state.front;
    if (magazine == nullptr) {
      *front.free_top++ = slot;
      return;
    }
    const std::uint32_t moved = count / 2;  // the older ones
    // Fewer in the magazine first: a child of a fork in between loses slots, and has none twice.
    std::uint32_t older[HandleMagazine::kMostSlots];
    std::copy(magazine->slots, magazine->slots + moved, older);
    magazine->count.store(0, std::memory_order_release);
    std::copy(magazine->slots + moved, magazine->slots + count, magazine->slots);
    count -= moved;
    magazine->count.store(count, std::memory_order_release);
    front.free_top = std::copy(older, older + moved, front.free_top);
  }
  magazine->slots[count] = slot;
  magazine->count.store(count + 1, std::memory_order_release);
}

// Moves the calling thread's slots to the stack. \pre the mutex is held.
void empty_own_magazine(HandlePoolState& state) {
  HandleMagazine* const magazine = magazine_of(state, this_heap());
  if (magazine == nullptr) return;
  const std::uint32_t count = magazine->count.load(std::memory_order_relaxed);
  magazine->count.store(0, std::memory_order_release);
  state.front->free_top = std::copy(magazine->slots, magazine->slots + count, state.front->free_top);
}

}  // namespace

std::size_t release_unused_slots(HandlePoolState& state, ReturnedPages& returned) {
  const ProgramGuard guard(state.mutex);
  HandleFront& front = *state.front;
  if (state.walks != 0 || state.has_ended || front.is_over_malloc) return 0;
  empty_own_magazine(state);
  for (std::uint32_t i = 0; i < state.chunk_count; ++i) chunk_at(state, i).free_count = 0;
  for (const std::uint32_t* slot = front.free_slots; slot != front.free_top; ++slot)
    ++chunk_of_slot(state, *slot).free_count;
  const auto is_unused = [&](const HandleChunk& chunk) {
    return chunk.free_count + chunk.retired_count == chunk.usable_count;
  };
  front.free_top = std::remove_if(front.free_slots, front.free_top,
                                  [&](std::uint32_t slot) { return is_unused(chunk_of_slot(state, slot)); });
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
  for (std::atomic<HandleMagazine*>& place : state.magazines)
    if (HandleMagazine* const magazine = place.exchange(nullptr, std::memory_order_relaxed))
      metadata.free(magazine, sizeof(HandleMagazine));
}

std::uint32_t take_handle_slot(HandleFront& front) noexcept {
  HandlePoolState& state = *front.state;
  const std::uint32_t slot = take_slot(state);
  if (!front.is_over_malloc || slot == HandleFront::kNoSlot) return slot;
  void* const block = system_blocks.allocate(state, state.type.bytes, state.type.alignment);
  if (block == nullptr) {
    give_back_slot(state, slot);
    note_refusal(state);
    return HandleFront::kNoSlot;
  }
  chunk_of_slot(state, slot).blocks[index_of_slot(state, slot)].store(block, std::memory_order_relaxed);
  return slot;
}

void give_back_handle_slot(HandleFront& front, std::uint32_t slot) noexcept {
  HandlePoolState& state = *front.state;
  if (front.is_over_malloc)
    free_object_of_malloc(state, chunk_of_slot(state, slot), index_of_slot(state, slot));
  give_back_slot(state, slot);
}

void retire_handle_slot(HandleFront& front, std::uint32_t slot) noexcept {
  HandlePoolState& state = *front.state;
  HandleChunk& chunk = chunk_of_slot(state, slot);
  if (front.is_over_malloc) free_object_of_malloc(state, chunk, index_of_slot(state, slot));
  const ProgramGuard guard(state.mutex);
  ++chunk.retired_count;
}

std::size_t handle_pool_prewarm(HandleFront& front, std::size_t count) noexcept {
  HandlePoolState& state = *front.state;
  if (count == 0 || front.is_over_malloc) return count;
  std::size_t made = 0;
  take_within_limits([&] {
    ReturnedPages returned;
    const ProgramGuard guard(state.mutex);
    const auto free_count = [&] { return static_cast<std::size_t>(front.free_top - front.free_slots); };
    while (free_count() < count && grow_handle_pool(state, returned)) {
    }
    populate_chunks(state);
    made = free_count();
    return made >= count;
  });
  return made;
}

std::size_t handle_pool_release_unused(HandleFront& front) noexcept {
  ReturnedPages returned;
  return release_unused_slots(*front.state, returned);
}

}  // namespace TARN_NAMESPACE::detail
