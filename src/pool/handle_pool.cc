// The life of a HandlePool: making and ending it, what the library asks any pool for, and its invariant.
#include <algorithm>
#include <new>

#include "base/units.h"
#include "general/configuration.h"
#include "general/live_picture.h"
#include "general/pool_registry.h"
#include "general/setup.h"
#include "general/system_blocks.h"
#include "os/checker.h"
#include "os/fatal.h"
#include "os/held_locks.h"
#include "os/owner_lock.h"
#include "page/metadata.h"
#include "page/page_map.h"
#include "pool/handle_chunks.h"
#include "pool/handle_pool_state.h"
#include "pool/sensitive_heap.h"
#include "pool/watched_blocks.h"
#include "tarn/detail/handle_slots.h"

namespace TARN_NAMESPACE::detail {

using namespace internal;

namespace {

constexpr std::size_t kMagazineBytes = 256 * 1024;  // of objects whose slots a magazine has

HandlePoolState& state_of(PoolHeader& pool) { return static_cast<HandlePoolState&>(pool); }

// In address order; a destructor sees its object as ended.
void destroy_live(HandlePoolState& state) {
  HandleWalk walk(*state.front);
  const auto destroy = [&](HandleChunk& chunk, std::uint32_t index) {
    std::atomic<std::uint32_t>& generation = chunk.generations()[index];
    const std::uint32_t live = generation.load(std::memory_order_relaxed);
    if ((live & 1) == 0) return;
    generation.store(live + 1, std::memory_order_relaxed);
    os::check_no_lock_is_held("while a function of the program's runs");
    void* const object = chunk.object(index, state.type.stride);
    state.type.destroy(object);
    watched::note_object_ended(object);
    if (state.front->checked_as != nullptr) os::note_pool_free(&state, object);
    wipe_if_sensitive(state, object);
    if (chunk.blocks != nullptr) free_object_of_malloc(state, chunk, index);
  };
  while (walk.advance()) {
    if (walk.chunk != nullptr) {
      for (std::uint32_t index = 0; index < walk.chunk->usable_count; ++index) destroy(*walk.chunk, index);
    } else {
      for (std::uint32_t i = 0; i < walk.place_count; ++i)
        destroy(chunk_of_slot(state, walk.places[i].slot), index_of_slot(state, walk.places[i].slot));
    }
  }
}

// A block that tarn::deallocate was given: right only for an object that its pool has handed over.
void deallocate_any(PoolHeader& pool, void* block) {
  constexpr const char* kNoBlock = "free of a pointer that is no block of the pool";
  HandlePoolState& state = state_of(pool);
  if (!state.has_ended) os::fatal_in_pool(state.name, kNoBlock, block);
  // Its slot counts as live ever after.
  if (system_blocks.pool_of(block) == &state) {
    std::size_t bytes = 0;
    wipe_if_sensitive(state, block);
    system_blocks.deallocate(state, block, &bytes);
    return;
  }
  ReturnedPages returned;
  watched::note_object_ended(block);
  const os::LockGuard guard(state.mutex);
  const Span* const span = page_map.find(block);
  if (span == nullptr || span->unmarked_pool() != &state) os::fatal_in_pool(state.name, kNoBlock, block);
  HandleChunk& chunk = *reinterpret_cast<HandleChunk*>(span->free_bits);
  const std::size_t offset = address_of(block) - address_of(span->start), index = offset / state.type.stride;
  if (address_of(block) < address_of(span->start) || index >= chunk.usable_count)
    os::fatal_in_pool(state.name, kNoBlock, block);
  if (index * state.type.stride != offset)
    os::fatal_in_pool(state.name, "free of a pointer into a block", block);
  if (!has_object(chunk, static_cast<std::uint32_t>(index)))
    os::fatal_in_pool(state.name, "double free", block);
  wipe_if_sensitive(state, block);
  chunk.generations()[index].fetch_add(1, std::memory_order_relaxed);
  if (live_in(chunk) == 0) end_memory_of_chunk(state, chunk, returned);
}

std::size_t usable_size_of(PoolHeader& pool, const void*) { return state_of(pool).type.bytes; }

struct SlotCounts {
  std::size_t usable, used, live;
};

// Used are those that have ever had an object. A free slot that had one is taken before one that had none,
// unless it lies in another thread's magazine: so `used` is the peak of live ones, and what magazines held.
SlotCounts count_slots(const HandlePoolState& state) {
  SlotCounts counts{};
  for (std::uint32_t i = 0; i < state.chunk_count; ++i) {
    HandleChunk& chunk = chunk_at(state, i);
    const bool has_memory =
        state.front->is_over_malloc || chunk.objects.load(std::memory_order_relaxed) != nullptr;
    if (has_memory) counts.usable += chunk.usable_count - chunk.retired_count;
    for (std::uint32_t index = 0; index < chunk.usable_count; ++index) {
      const std::uint32_t generation = chunk.generations()[index].load(std::memory_order_relaxed);
      counts.used += generation != 0 ? 1 : 0;
      counts.live += generation & 1;
    }
  }
  return counts;
}

PoolUse use_of(PoolHeader& pool, ReturnedPages&) {
  HandlePoolState& state = state_of(pool);
  const ProgramGuard guard(state.mutex);
  const SlotCounts slots = count_slots(state);
  PoolUse use{};
  use.kind = state.operations->kind;
  use.block_bytes = state.type.stride;
  use.live_count = slots.live;
  use.live_bytes = slots.live * use.block_bytes;
  use.peak_live_bytes = slots.used * use.block_bytes;
  use.mapped_bytes = state.front->is_over_malloc ? use.live_bytes : state.mapped_bytes;
  use.waste_bytes = use.mapped_bytes > use.live_bytes ? use.mapped_bytes - use.live_bytes : 0;
  use.capacity = slots.usable;
  use.largest_count = std::size_t{HandleFront::kMostSlots >> state.type.shift} * usable_slots(state);
  use.limit_bytes = use.largest_count * use.block_bytes;
  use.mapped_limit_bytes = PoolUse::kNoLimit;
  use.refusals = state.refusals.load(std::memory_order_relaxed);
  return use;
}

std::size_t release_unused_any(PoolHeader& pool, ReturnedPages& returned) {
  return release_unused_slots(state_of(pool), returned);
}

// A place is a slot.
bool add_live(PoolHeader& pool, std::uintptr_t& place, LivePicture& picture) {
  const HandlePoolState& state = state_of(pool);
  if (state.front->is_over_malloc) return system_blocks.add_live(state, place, picture);
  const ProgramGuard guard(pool.mutex);
  const std::size_t slots = std::size_t{state.chunk_count} << state.type.shift;
  const std::uint32_t step = std::min(slots_per_chunk(state), 64u);
  for (; place < slots; place += step) {
    if (picture.room() == 0) return true;
    const auto slot = static_cast<std::uint32_t>(place);
    HandleChunk& chunk = chunk_of_slot(state, slot);
    const std::uint32_t first = index_of_slot(state, slot);
    if (chunk.objects.load(std::memory_order_relaxed) == nullptr) continue;
    std::uint64_t bits = 0;
    for (std::uint32_t i = 0; i < step && first + i < chunk.usable_count; ++i)
      bits |= std::uint64_t{has_object(chunk, first + i)} << i;
    const auto stride = static_cast<std::uint32_t>(state.type.stride);
    picture.add({chunk.object(first, stride), bits, stride, stride, SizeClass::kNone});
  }
  return false;
}

constexpr PoolOperations kOperations{.kind = kHandlePoolKind,
                                     .record = PoolRecord::kHandle,
                                     .deallocate = deallocate_any,
                                     .usable_size = usable_size_of,
                                     .move_sensitive = move_to_sensitive_heap,
                                     .use = use_of,
                                     .release_unused = release_unused_any,
                                     .add_live = add_live};

// Frees what the pool itself has; chunks that hold objects stay with their records.
void end_records(HandlePoolState& state, ReturnedPages& returned) {
  end_magazines(state);
  end_stack(state, returned);
  for (std::uint32_t i = 0; i < state.chunk_count; ++i)
    if (HandleChunk& chunk = chunk_at(state, i);
        chunk.objects.load(std::memory_order_relaxed) != nullptr && live_in(chunk) == 0)
      end_memory_of_chunk(state, chunk, returned);
}

// The record stays for the objects that the pool has handed over; the program's pool object does not. From
// now on a trim by another thread leaves the pool alone.
void outlive(HandlePoolState& state, ReturnedPages& returned) {
  const os::LockGuard guard(state.mutex);
  const HandleFront& front = *state.front;
  end_records(state, returned);
  state.last_front.chunks.store(front.chunks.load(std::memory_order_relaxed), std::memory_order_relaxed);
  state.last_front.slot_count.store(front.slot_count, std::memory_order_relaxed);
  state.last_front.malloc_slot_count.store(front.malloc_slot_count, std::memory_order_relaxed);
  state.last_front.is_over_malloc = front.is_over_malloc;
  state.last_front.state = &state;
  state.front = &state.last_front;
  state.has_ended = true;
}

}  // namespace

bool make_handle_pool(HandleFront& front, const char* name, bool reports, bool destroys, bool is_sensitive,
                      std::size_t initial_count, const HandlePoolType& type) noexcept {
  set_up_once();
  void* const record = metadata.allocate(sizeof(HandlePoolState));
  if (record == nullptr) return false;
  auto* const state = new (record) HandlePoolState{};
  state->operations = &kOperations;
  state->set_name(name, kHandlePoolKind);
  state->type = type;
  state->reports = reports;
  state->destroys = destroys;
  state->is_sensitive = is_sensitive;
  state->front = &front;
  state->stack_owner = lies_on_this_stack(&front) ? &thread_cache : nullptr;
  state->magazine_slots = static_cast<std::uint32_t>(
      std::clamp<std::size_t>(kMagazineBytes / type.stride, 2, HandleMagazine::kMostSlots));
  for (std::atomic<HandleMagazine*>& magazine : state->magazines)
    magazine.store(&no_handle_magazine.magazine, std::memory_order_relaxed);
  os::note_ordered_by_atomics(&front, sizeof front);
  front.magazines = state->magazines;
  front.chunks.store(nullptr, std::memory_order_relaxed);
  front.slot_count.store(0, std::memory_order_relaxed);
  front.malloc_slot_count.store(0, std::memory_order_relaxed);
  front.is_over_malloc = configuration.is_on(Option::kPoolsUseMalloc);
  front.state = state;
  front.checked_as = type.poisons ? state : nullptr;
  if (front.is_over_malloc) state->type.poisons = false;
  if (type.poisons) os::begin_checked_pool(state);
  os::OwnerLock::prepare();
  pool_registry.add(*state);
  if (handle_pool_prewarm(front, initial_count) >= initial_count) return true;
  end_handle_pool(front);
  return false;
}

void end_handle_pool(HandleFront& front) noexcept {
  os::note_ordered_no_more(&front, sizeof front);
  HandlePoolState& state = *front.state;
  std::size_t live = live_count(state);
  if (live != 0 && state.reports) state.report_live(live, state.type.bytes);
  if (live != 0 && state.destroys) {
    destroy_live(state);
    live = live_count(state);
  }
  if (front.checked_as != nullptr) os::end_checked_pool(&state);
  for_each_live_slot(state, [&](HandleChunk& chunk, std::uint32_t index) {
    if (front.checked_as != nullptr) os::unpoison(chunk.object(index, state.type.stride), state.type.bytes);
  });
  ReturnedPages returned;
  if (live != 0) {
    outlive(state, returned);
    return pool_registry.note_off_stack(state);
  }
  pool_registry.remove(state);
  end_records(state, returned);
  end_chunk_records(state, returned);
  metadata.free(&state, sizeof(HandlePoolState));
}

std::size_t handle_pool_live_count(const HandleFront& front) noexcept {
  const ProgramGuard guard(front.state->mutex);
  return live_count(*front.state);
}

void stop_at_stale_handle(const HandleFront& front, std::uint32_t slot, std::uint32_t generation) noexcept {
  const std::uintptr_t handle = (std::uintptr_t{generation} << 32) | slot;
  os::fatal_in_pool(front.state->name, "use of a handle whose object has ended",
                    reinterpret_cast<const void*>(handle));
}

void validate(HandlePoolState& state) {
  HandleFront& front = *state.front;
  TARN_CHECK(slot_count_of(front) == state.chunk_count << state.type.shift);
  TARN_CHECK(state.chunk_count <= state.chunk_room && state.order_count <= state.chunk_count);
  std::size_t bytes = 0, live = 0, usable = 0, retired = 0, entries = 0;
  for (std::uint32_t i = 0; i < state.chunk_count; ++i) {
    HandleChunk& chunk = chunk_at(state, i);
    TARN_CHECK(chunk.first_slot == i << state.type.shift && chunk.usable_count <= slots_per_chunk(state));
    chunk.free_count = 0;
    const bool has_memory = front.is_over_malloc || chunk.objects.load() != nullptr;
    TARN_CHECK(has_memory || live_in(chunk) == 0);
    if (!has_memory) continue;
    live += live_in(chunk);
    usable += chunk.usable_count;
    retired += chunk.retired_count;
  }
  for (std::uint32_t i = 0; i < state.order_count; ++i) {
    const char* const objects = state.order[i]->objects.load();
    const Span* const span = page_map.find(objects);
    TARN_CHECK(span != nullptr && span->start == objects && span->unmarked_pool() == &state);
    TARN_CHECK(i == 0 || state.order[i - 1]->objects.load() < objects);
    bytes += span->bytes();
  }
  TARN_CHECK(bytes == state.mapped_bytes);
  const auto check = [&](std::uint64_t handle) {
    ++entries;
    const std::uint32_t slot = slot_of(handle);
    TARN_CHECK(handle == next_handle(state, slot));
    HandleChunk& chunk = chunk_of_slot(state, slot);
    TARN_CHECK(index_of_slot(state, slot) < chunk.usable_count);
    TARN_CHECK(!has_object(chunk, index_of_slot(state, slot)));
    TARN_CHECK(++chunk.free_count <= chunk.usable_count);
  };
  for (const std::uint64_t* handle = state.free_handles; handle != state.free_top; ++handle) check(*handle);
  for (std::uint32_t number = 0; number < HandlePoolState::kMagazines; ++number) {
    HandleMagazine* const magazine = magazine_of(state, number);
    if (magazine == nullptr) continue;
    TARN_CHECK(magazine->number == number && *magazine->places() == 0);
    TARN_CHECK(magazine->places() <= magazine->top && magazine->top <= magazine->limit);
    TARN_CHECK(magazine->ends_alone == (magazine->is_shared ? HandleMagazine::kNobody : number));
    for (std::size_t i = 1; i <= count_of(*magazine); ++i) check(magazine->places()[i]);
  }
  TARN_CHECK(live + entries + retired == usable);
}

}  // namespace TARN_NAMESPACE::detail
