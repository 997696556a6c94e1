// The life of a HandlePool: making and ending it, what the library asks any pool for, and its invariant.
#include <algorithm>

#include "base/units.h"
#include "central/slabs/class_slabs.h"
#include "central/slabs/slab.h"
#include "general/options/configuration.h"
#include "general/options/setup.h"
#include "general/pools/live_picture.h"
#include "general/pools/pool_registry.h"
#include "general/pools/system_blocks.h"
#include "os/checker.h"
#include "os/fatal.h"
#include "os/locks/held_locks.h"
#include "os/locks/owner_lock.h"
#include "page/memory/metadata.h"
#include "page/spans/page_map.h"
#include "pool/handles/handle_pool_state.h"
#include "pool/watched_blocks.h"
#include "thread/pools/pool_owner.h"

namespace TARN_NAMESPACE::detail {

using namespace internal;

namespace {

HandlePoolState& state_of(PoolHeader& pool) { return static_cast<HandlePoolState&>(pool); }

// In address order; a destructor sees its object as ended.
void destroy_live(HandlePoolState& state) {
  HandleWalk walk(*state.front);
  const auto destroy = [&](SlotWord& word) {
    const std::uint64_t handle = handle_of(word.load(std::memory_order_relaxed));
    if ((generation_of(handle) & 1) == 0) return;
    word.store(ended_word(handle), std::memory_order_relaxed);
    os::check_no_lock_is_held("while a function of the program's runs");
    void* const object = object_of_slot(state, slot_of(handle));
    state.type.destroy(object);
    watched::note_object_ended(object);
    if (state.is_checked) os::note_pool_free(&state, object);
    state.front->is_over_malloc ? free_object_of_malloc(state, slot_of(handle))
                                : wipe_if_sensitive(state, object);
  };
  while (walk.advance()) {
    if (walk.words != nullptr) for_each_word(state, walk.words, destroy);
    for (std::uint32_t i = 0; i < walk.place_count; ++i) destroy(*walk.places[i].word);
  }
}

void end(HandlePoolState& state) {
  ReturnedPages returned;
  {
    const os::LockGuard guard(state.mutex);
    end_groups_locked(state, returned);  // before the slots' pages are another's
  }
  begin_to_end_blocks(state);
  free_all_blocks(*state.owner, returned);
  end_blocks(state);
  metadata.end(&state);
}

/// A live object that its pool has handed over.
struct LeftObject {
  Span* span;
  SlotWord& word;
};

// Stops the process where there is none.
LeftObject left_object_at(HandlePoolState& state, void* block) {
  Span* const span = page_map.find(block);
  if (span == nullptr || span->kind != SpanKind::kPool || span->unmarked_pool() != &state)
    state.stop("free of a pointer that is no block of the pool", block);
  const std::size_t offset = address_of(block) - address_of(span->start), index = offset / state.type.stride;
  if (address_of(block) < address_of(span->start) || index >= span->block_count)
    state.stop("free of a pointer that is no block of the pool", block);
  if (index * state.type.stride != offset) state.stop("free of a pointer into a block", block);
  SlotWord& word = words_of(*span)[index];
  if (!has_object(word)) state.stop("double free", block);
  return {span, word};
}

// \returns whether it was the last one.
bool free_left_object(HandlePoolState& state, void* block) {
  ReturnedPages returned;
  const os::LockGuard guard(state.mutex);
  std::size_t bytes = 0;
  if (!system_blocks.deallocate(state, block, &bytes)) {
    const LeftObject object = left_object_at(state, block);
    object.word.store(0, std::memory_order_relaxed);
    end_group_if_dead_locked(state, object.span, returned);
  }
  return --state.left_live == 0;
}

// A block that tarn::deallocate was given: right only for an object that its pool has handed over.
void deallocate_any(PoolHeader& pool, void* block) {
  HandlePoolState& state = state_of(pool);
  if (!state.has_ended) state.stop("free of a pointer that is no block of the pool", block);
  watched::note_object_ended(block);
  if (system_blocks.pool_of(block) != &state) left_object_at(state, block);
  wipe_if_sensitive(state, block);
  if (free_left_object(state, block)) end(state);
}

struct SlotCounts {
  std::size_t usable, used, live;
};

// Used are those that have ever had an object: as many as were live at once, and those that lay in magazines,
// or in another slab, when one that had none was taken.
SlotCounts count_slots(const HandlePoolState& state) {
  SlotCounts counts{};
  for (std::uint32_t i = 0; i < state.group_count; ++i) {
    const HandleGroup& group = group_at(state, i);
    const bool has_memory = group.objects.load(std::memory_order_relaxed) != nullptr;
    const SlotWord* const words = group.words.load(std::memory_order_relaxed);
    for (std::uint32_t k = 0; k < usable_slots(state); ++k) {
      const std::uint64_t word = words[k].load(std::memory_order_relaxed);
      counts.usable += has_memory && word != 0 ? 1 : 0;
      counts.used += word == 0 || generation_of(word) != 0 ? 1 : 0;  // 0: it is used up
      counts.live += generation_of(word) & 1;
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
  // Of a pool that has handed its objects over, those not yet freed: over malloc a free leaves the slot's
  // word as it was.
  use.live_count = state.has_ended ? state.left_live : slots.live;
  use.live_bytes = use.live_count * use.block_bytes;
  use.peak_live_bytes = slots.used * use.block_bytes;
  use.mapped_bytes = state.front->is_over_malloc ? use.live_bytes : state.mapped_bytes;
  use.waste_bytes = use.mapped_bytes > use.live_bytes ? use.mapped_bytes - use.live_bytes : 0;
  use.capacity = slots.usable;
  use.largest_count = most_slots(state.type);
  use.limit_bytes = use.largest_count * use.block_bytes;
  use.mapped_limit_bytes = PoolUse::kNoLimit;
  use.refusals = state.refusals.load(std::memory_order_relaxed);
  return use;
}

// A place is a slot.
bool add_live(PoolHeader& pool, std::uintptr_t& place, LivePicture& picture) {
  const HandlePoolState& state = state_of(pool);
  if (state.front->is_over_malloc) return system_blocks.add_live(state, place, picture);
  const ProgramGuard guard(pool.mutex);
  const std::size_t slots = std::size_t{state.group_count} << state.type.shift;
  const std::uint32_t step = std::min(slots_per_group(state), 64u);
  for (; place < slots; place += step) {
    if (picture.room() == 0) return true;
    const auto slot = static_cast<std::uint32_t>(place);
    if (group_of_slot(state, slot).objects.load(std::memory_order_relaxed) == nullptr) continue;
    std::uint64_t bits = 0;
    for (std::uint32_t i = 0; i < step; ++i)
      bits |= std::uint64_t{has_object(word_of_slot(state, slot + i))} << i;
    const auto stride = static_cast<std::uint32_t>(state.type.stride);
    picture.add({static_cast<char*>(object_of_slot(state, slot)), bits, stride, stride, SizeClass::kNone});
  }
  return false;
}

constexpr PoolOperations kOperations{
    .kind = kHandlePoolKind,
    .record = PoolRecord::kHandle,
    .deallocate = deallocate_any,
    .usable_size = [](PoolHeader& pool, const void*) { return state_of(pool).type.bytes; },
    .use = use_of,
    .release_unused = [](PoolHeader& pool,
                         ReturnedPages& returned) { return release_unused_slots(state_of(pool), returned); },
    .add_live = add_live,
    .owner = owner_of_blocks};

// The record stays for the objects that the pool has handed over, until the last of them is freed; the
// program's pool object does not. From now on a trim by another thread leaves the pool alone.
void outlive(HandlePoolState& state, std::size_t live) {
  ReturnedPages returned;
  const os::LockGuard guard(state.mutex);
  if (!state.front->is_over_malloc) {
    return_all_cached(*state.owner, returned);
    release_unused_groups_locked(state, returned);
  }
  const HandleFront& front = *state.front;
  state.last_front.groups.store(front.groups.load(std::memory_order_relaxed), std::memory_order_relaxed);
  state.last_front.slot_count.store(front.slot_count.load(), std::memory_order_relaxed);
  state.last_front.malloc_slot_count.store(front.malloc_slot_count.load(), std::memory_order_relaxed);
  state.last_front.is_over_malloc = front.is_over_malloc;
  state.last_front.state = &state;
  state.front = &state.last_front;
  state.left_live = live;
  state.has_ended = true;
}

// The class of the slots: a thread may keep as many as it may of blocks of the objects' size.
ClassGeometry geometry_of_slots(std::size_t stride) {
  ClassGeometry geometry = chunk_geometry(sizeof(SlotWord), alignof(SlotWord), kSlotsInSlab);
  const auto bytes = static_cast<std::uint32_t>(stride);
  geometry.block_bytes = bytes;
  geometry.largest_magazine = make_geometry(bytes, bytes).largest_magazine;
  return geometry;
}

std::size_t live_count(const HandlePoolState& state) {
  std::size_t count = 0;
  for_each_word(state, [&](const SlotWord& word) { count += has_object(word) ? 1 : 0; });
  return count;
}

}  // namespace

bool make_handle_pool(HandleFront& front, const char* name, bool reports, bool destroys, bool is_sensitive,
                      std::size_t initial_count, const HandlePoolType& type) noexcept {
  set_up_once();
  auto* const state = metadata.make<HandlePoolState>();
  if (state == nullptr) return false;
  front.is_over_malloc = configuration.is_on(Option::kPoolsUseMalloc);
  front.groups.store(nullptr, std::memory_order_relaxed);
  front.slot_count.store(0, std::memory_order_relaxed);
  front.malloc_slot_count.store(0, std::memory_order_relaxed);
  front.fences = &os::OwnerLock::fences;
  front.makers_alone = state->makers_alone;
  front.state = state;
  front.checked_as = type.poisons ? state : nullptr;
  for (unsigned number = 0; number < HandlePoolState::kMakers; ++number)
    state->makers_alone[number].store(static_cast<std::uint8_t>(number), std::memory_order_relaxed);
  state->front = &front;
  state->type = type;
  state->type.poisons = type.poisons && !front.is_over_malloc;
  state->reports = reports;
  state->destroys = destroys;
  state->stack_owner = lies_on_this_stack(&front) ? address_of_own_cache() : nullptr;
  const bool has_hits = !is_sensitive && !front.is_over_malloc && !kIsHardened;
  os::note_ordered_by_atomics(&front, sizeof front);
  os::OwnerLock::prepare();
  SharedPoolFront slots{};
  const BlockPoolRequest request{
      .operations = kOperations,
      .name = name,
      .usual_name = kHandlePoolKind,
      .geometry = geometry_of_slots(type.stride),
      .alignment = alignof(SlotWord),
      .source = has_hits ? BlockPoolState::Source::kRecords : BlockPoolState::Source::kSlabs,
      .most_blocks = 0,  // each slab is asked for
      .is_sensitive = is_sensitive,
      .is_checked = type.poisons,
      .keeps_slabs = true,
      .has_slots = true};
  if (!begin_block_pool(slots, *state, request)) {
    os::note_ordered_no_more(&front, sizeof front);
    metadata.end(state);
    return false;
  }
  begin_to_end(*state->owner);  // no slab of slots ends before the pool does
  front.place = slots.place;
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
  if (live == 0) return end(state);
  // Objects that are left stay usable until each is freed by its address: checkers forget the pool, and no
  // byte of a live object stays poisoned.
  if (state.is_checked) os::end_checked_pool(&state);
  if (state.is_checked && !front.is_over_malloc)
    for_each_word(state, [&](const SlotWord& word) {
      if (!has_object(word)) return;
      const std::uint32_t slot = slot_of(handle_of(word.load(std::memory_order_relaxed)));
      os::unpoison(object_of_slot(state, slot), state.type.bytes);
    });
  state.is_checked = false;
  outlive(state, live);
  pool_registry.note_off_stack(state);
}

std::size_t handle_pool_live_count(const HandleFront& front) noexcept {
  const ProgramGuard guard(front.state->mutex);
  return live_count(*front.state);
}

void stop_at_stale_handle(const HandleFront& front, std::uint32_t slot, std::uint32_t generation) noexcept {
  const std::uintptr_t handle = (std::uintptr_t{generation} << 32) | slot;
  front.state->stop("use of a handle whose object has ended", reinterpret_cast<const void*>(handle));
}

void validate(HandlePoolState& state) {
  HandleFront& front = *state.front;
  TARN_CHECK(slot_count_of(front).load() == state.group_count << state.type.shift);
  std::size_t bytes = 0;
  for (const Span* span = state.objects.first(); span != nullptr; span = span->next) {
    TARN_CHECK(page_map.find(span->start) == span && span->unmarked_pool() == &state);
    bytes += span->bytes();
  }
  TARN_CHECK(bytes == state.mapped_bytes);
  for (std::uint32_t number = 0; number < state.group_count; ++number) {
    const HandleGroup& group = group_at(state, number);
    SlotWord* const words = group.words.load();
    const bool has_memory = group.objects.load() != nullptr;
    for (std::uint32_t i = 0; i < slots_per_group(state); ++i) {
      const std::uint64_t word = words[i].load();
      const bool is_live = (generation_of(word) & 1) != 0;
      TARN_CHECK(word == 0 || slot_of(handle_of(word)) == (number << state.type.shift) + i);
      TARN_CHECK(word == 0 || is_live == (maker_of(word) != kNoMaker));
      TARN_CHECK(!is_live || has_memory);
    }
    if (has_memory && !front.is_over_malloc)
      TARN_CHECK(words_of(*page_map.find(group.objects.load())) == words);
  }
  // Free slots have memory and no object.
  SlabOwner& owner = *state.owner;
  os::LockGuard guard(owner.mutex);
  validate_locked(owner);
  for (const Span* slab = owner.of(state.size_class).available.first(); slab != nullptr; slab = slab->next)
    for (std::uint32_t i = 0; i < slab->block_count; ++i) {
      if (!is_marked_free_locked(*slab, BlockIndex{i})) continue;
      const std::uint64_t word = reinterpret_cast<SlotWord*>(slab->start)[i].load();
      TARN_CHECK(word != 0 && (generation_of(word) & 1) == 0);
      TARN_CHECK(group_of_slot(state, slot_of(handle_of(word))).objects.load() != nullptr);
    }
}

}  // namespace TARN_NAMESPACE::detail
