// Groups of slots: their numbers, the memory for their objects, the array that names them, and walks.
#include <algorithm>
#include <new>

#include "base/bitmap.h"
#include "base/units.h"
#include "central/slabs/class_slabs.h"
#include "central/slabs/remote_free.h"
#include "central/slabs/slab.h"
#include "general/pools/live_picture.h"
#include "os/checker.h"
#include "page/give_back/page_cache.h"
#include "page/memory/metadata.h"
#include "page/spans.h"
#include "page/spans/page_map.h"
#include "pool/freed_block.h"
#include "pool/handles/handle_pool_state.h"
#include "tarn/detail/live_walk.h"
#include "thread/spans_in_order.h"

namespace TARN_NAMESPACE::detail {

using namespace internal;

namespace {

constexpr std::size_t kColouredStride = 128;  // a stride that is a multiple leaves cache sets unused
constexpr std::size_t kLargestColoured = 8 * 1024;
constexpr std::size_t kDenseBytes = 8 * 1024 * 1024;  // pools from this size on fill their huge pages
constexpr std::uint32_t kFirstRoom = 16;              // groups

std::size_t array_bytes(std::uint32_t room) { return room * sizeof(HandleGroup); }
std::size_t pointer_bytes(const HandlePoolState& state) { return slots_per_group(state) * sizeof(void*); }

// Makes room for one more group.
bool make_room(HandlePoolState& state) {
  const std::uint32_t old_room = state.array_count == 0 ? 0 : state.arrays[state.array_count - 1].room;
  if (state.group_count < old_room) return true;
  if (state.array_count == HandlePoolState::kGrowths) return false;
  const std::uint32_t room = old_room == 0 ? kFirstRoom : old_room * 2;
  // A large array is a span of its own: its pages go back when it ends.
  Span* span = nullptr;
  void* memory = nullptr;
  if (array_bytes(room) < kPageBytes) {
    memory = metadata.allocate_zeroed(array_bytes(room));
  } else {
    span = allocate_span({.pages = pages_for(array_bytes(room)), .kind = SpanKind::kPool});
    if (span != nullptr) memory = span->start;
  }
  if (memory == nullptr) return false;
  if (span != nullptr)
    os::note_ordered_by_atomics(memory, array_bytes(room));  // metadata is noted as a whole
  auto* const groups = static_cast<HandleGroup*>(memory);
  for (std::uint32_t i = 0; i < state.group_count; ++i) {
    const HandleGroup& old = group_at(state, i);
    new (groups + i)
        HandleGroup{old.words.load(std::memory_order_relaxed), old.objects.load(std::memory_order_relaxed)};
  }
  state.arrays[state.array_count++] = {groups, room};
  state.front->groups.store(groups, std::memory_order_release);
  return true;
}

void end_array(const GroupArray& array, ReturnedPages& returned) {
  if (array_bytes(array.room) < kPageBytes) return metadata.free(array.groups, array_bytes(array.room));
  os::note_ordered_no_more(array.groups, array_bytes(array.room));
  free_span(page_map.find(array.groups), returned);
}

// If all groups' objects would start on the same cache sets, each begins a line later than the last; where
// objects fill whole pages, the last slot of the group is never used.
bool has_colours(const HandlePoolType& type) {
  return type.stride % kColouredStride == 0 && type.stride <= kLargestColoured &&
         type.alignment <= kCacheLineBytes;
}
std::size_t bytes_of_objects(const HandlePoolState& state) {
  return slots_per_group(state) * state.type.stride;
}
bool has_spare_slot(const HandlePoolType& type) {
  return has_colours(type) && (type.stride << type.shift) % kPageBytes == 0;
}

}  // namespace

std::uint32_t usable_slots(const HandlePoolState& state) {
  return slots_per_group(state) - (has_spare_slot(state.type) ? 1 : 0);
}

namespace {

// \returns memory for the objects of a group; nullptr when it is refused.
char* make_objects(HandlePoolState& state, SlotWord* words, std::uint32_t number) {
  if (state.front->is_over_malloc) return static_cast<char*>(metadata.allocate_zeroed(pointer_bytes(state)));
  const bool is_dense = state.mapped_bytes >= kDenseBytes && page_cache.uses_huge_pages();
  Span* const span =
      allocate_span({.pages = pages_for(bytes_of_objects(state)),
                     .kind = SpanKind::kPool,
                     .density = density_of(state, is_dense ? Density::kDense : Density::kSparse),
                     .pool = &state});
  if (span == nullptr) return nullptr;
  if (state.type.poisons) os::poison(span->start, span->bytes());
  if (has_colours(state.type)) {
    const auto lines = static_cast<std::uint32_t>(state.type.stride / kCacheLineBytes);
    const std::size_t colour = state.colour++ % lines * kCacheLineBytes;
    if (colour + usable_slots(state) * state.type.stride <= span->bytes()) span->start += colour;
  }
  span->pool_data = words;
  span->free_count = number;
  span->stride = static_cast<std::uint32_t>(state.type.stride);
  span->block_count = static_cast<std::uint16_t>(usable_slots(state));
  state.objects.push_front(span);
  state.mapped_bytes += span->bytes();
  return span->start;
}

// Frees the memory of a group, without a look at its slots. \returns bytes.
std::size_t end_objects(HandlePoolState& state, Span* span, ReturnedPages& returned) {
  const std::size_t bytes = span->bytes();
  if (state.type.poisons) os::unpoison(span->first_page(), bytes);
  group_at(state, number_of_group(*span)).objects.store(nullptr, std::memory_order_relaxed);
  if (number_of_group(*span) < state.first_without_memory)
    state.first_without_memory = number_of_group(*span);
  state.objects.remove(span);
  state.mapped_bytes -= bytes;
  span->pool_data = nullptr;
  span->set_pool(nullptr);
  free_span(span, returned);
  return bytes;
}

// The slots of a group, as blocks of their slab.
struct SlotsInSlab {
  Span& slab;
  std::size_t first;
};
SlotsInSlab place_of(const SlotWord* words) {
  Span& slab = *page_map.find(words);
  return {slab, static_cast<std::size_t>(words - reinterpret_cast<const SlotWord*>(slab.start))};
}

// From now on nobody takes slots that the slab had free. \pre the owner's mutex is held, as for the next two.
void withdraw_slots_locked(SlabOwner& owner, SlotsInSlab slots, std::uint32_t count, std::uint32_t free) {
  Span& slab = slots.slab;
  bitmap::clear_range(slab.free_bits, slots.first, count);
  slab.free_count -= free;
  slab.quiet = Quiet::kNot;
  note_taken(owner, free * sizeof(SlotWord));
  settle_taken(owner, &slab);
}

void offer_slots_locked(const HandlePoolState& state, SlotWord* words) {
  SlabOwner& owner = *state.owner;
  const SlotsInSlab slots = place_of(words);
  for (std::uint32_t i = 0; i < usable_slots(state); ++i) {
    if (words[i].load(std::memory_order_relaxed) == 0) continue;  // retired
    const auto index = static_cast<BlockIndex>(slots.first + i);
    mark_free(slots.slab, bitmap::word_of(index), bitmap::bit(index));
    owner.taken_bytes -= sizeof(SlotWord);
  }
  place_slab(owner, &slots.slab);
}

std::uint32_t count_free_locked(SlotsInSlab slots, std::uint32_t count) {
  std::uint32_t free = 0;
  for (std::uint32_t i = 0; i < count; ++i)
    free += bitmap::test(slots.slab.free_bits, slots.first + i) ? 1 : 0;
  return free;
}

// A slab of slots that no group has yet.
bool add_slab_of_slots(HandlePoolState& state) {
  SlabOwner& owner = *state.owner;
  os::LockGuard guard(owner.mutex);
  owner.room.store(kSlotsInSlab, std::memory_order_relaxed);
  Span* const slab = make_slab_locked(owner, state.size_class);
  owner.room.store(0, std::memory_order_relaxed);
  if (slab == nullptr) return false;
  state.next_words = reinterpret_cast<SlotWord*>(slab->start);
  state.words_left = kSlotsInSlab;
  return true;
}

bool begin_group(HandlePoolState& state) {
  const std::uint32_t first = state.group_count << state.type.shift;
  if (first >= kMostSlots || !make_room(state)) return false;
  if (state.words_left == 0 && !add_slab_of_slots(state)) return false;
  SlotWord* const words = state.next_words;
  char* const objects = make_objects(state, words, state.group_count);
  if (objects == nullptr) return false;
  state.next_words += slots_per_group(state);
  state.words_left -= slots_per_group(state);
  os::note_ordered_by_atomics(words, slots_per_group(state) * sizeof(SlotWord));
  for (std::uint32_t i = 0; i < usable_slots(state); ++i)
    words[i].store((first + i) | maker_bits(kNoMaker), std::memory_order_relaxed);
  // Readers go by the slots' count, so it is raised once the group is whole; only then may a slot be taken.
  HandleGroup& group = group_at(state, state.group_count++);
  group.words.store(words, std::memory_order_relaxed);
  group.objects.store(objects, std::memory_order_release);
  slot_count_of(*state.front).store(first + slots_per_group(state), std::memory_order_release);
  os::LockGuard guard(state.owner->mutex);
  offer_slots_locked(state, words);
  return true;
}

bool is_retired(const HandlePoolState& state, SlotWord* words) {
  bool is = true;
  for_each_word(state, words, [&](const SlotWord& word) { is &= word.load(std::memory_order_relaxed) == 0; });
  return is;
}

// \returns the first group that has slots and no memory; group_count: there is none.
std::uint32_t group_without_memory(HandlePoolState& state) {
  for (std::uint32_t& number = state.first_without_memory; number < state.group_count; ++number) {
    const HandleGroup& group = group_at(state, number);
    if (group.objects.load(std::memory_order_relaxed) == nullptr &&
        !is_retired(state, group.words.load(std::memory_order_relaxed)))
      break;
  }
  return state.first_without_memory;
}

bool give_memory_again(HandlePoolState& state, std::uint32_t number) {
  HandleGroup& group = group_at(state, number);
  SlotWord* const words = group.words.load(std::memory_order_relaxed);
  char* const objects = make_objects(state, words, number);
  if (objects == nullptr) return false;
  group.objects.store(objects, std::memory_order_release);
  os::LockGuard guard(state.owner->mutex);
  offer_slots_locked(state, words);
  return true;
}

/// The spans of a pool's objects, for SpansInOrder.
struct ObjectsOfPool {
  HandlePoolState& state;

  template <typename Visit>
  void for_each(const Visit& visit) const {
    const ProgramGuard guard(state.mutex);
    for (Span* span = state.objects.first(); span != nullptr; span = span->next) visit(span);
  }
};
using ObjectsInOrder = SpansInOrder<ObjectsOfPool>;

ObjectsInOrder& order_of(unsigned char* storage) {
  static_assert(sizeof(ObjectsInOrder) <= kOrderBytes && alignof(ObjectsInOrder) <= alignof(void*));
  return *std::launder(reinterpret_cast<ObjectsInOrder*>(storage));
}

}  // namespace

bool add_free_slots_locked(HandlePoolState& state) {
  const std::uint32_t number = group_without_memory(state);
  return number < state.group_count ? give_memory_again(state, number) : begin_group(state);
}

std::size_t release_unused_groups_locked(HandlePoolState& state, ReturnedPages& returned) {
  std::size_t bytes = 0;
  SlabOwner& owner = *state.owner;
  os::LockGuard guard(owner.mutex);
  collect_all_pending_locked(owner, returned);
  for (Span *span = state.objects.first(), *next = nullptr; span != nullptr; span = next) {
    next = span->next;
    const SlotWord* const words = words_of(*span);
    std::uint32_t retired = 0;
    for (std::uint32_t i = 0; i < span->block_count; ++i)
      retired += words[i].load(std::memory_order_relaxed) == 0 ? 1 : 0;
    const SlotsInSlab slots = place_of(words);
    const std::uint32_t free = count_free_locked(slots, span->block_count);
    // A slot whose handles are used up is never free again, and has no object either.
    if (free + retired != span->block_count) continue;
    if (free != 0) withdraw_slots_locked(owner, slots, span->block_count, free);
    bytes += end_objects(state, span, returned);
  }
  return bytes;
}

void end_group_if_dead_locked(HandlePoolState& state, Span* span, ReturnedPages& returned) {
  for (std::uint32_t i = 0; i < span->block_count; ++i)
    if (has_object(words_of(*span)[i])) return;
  end_objects(state, span, returned);
}

std::uint32_t most_slots(const HandlePoolType& type) {
  return kMostSlots - (has_spare_slot(type) ? kMostSlots >> type.shift : 0);
}

void end_groups_locked(HandlePoolState& state, ReturnedPages& returned) {
  for (std::uint32_t i = 0; i < state.group_count; ++i) {
    const HandleGroup& group = group_at(state, i);
    os::note_ordered_no_more(group.words.load(std::memory_order_relaxed),
                             slots_per_group(state) * sizeof(SlotWord));
    if (state.front->is_over_malloc)
      metadata.free(group.objects.load(std::memory_order_relaxed), pointer_bytes(state));
  }
  while (Span* const span = state.objects.first()) end_objects(state, span, returned);
  for (unsigned i = 0; i < state.array_count; ++i) end_array(state.arrays[i], returned);
  slot_count_of(*state.front).store(0, std::memory_order_relaxed);
  state.group_count = 0;
  state.first_without_memory = 0;
}

HandleWalk::HandleWalk(HandleFront& front) noexcept : front_(front) {
  HandlePoolState& state = *front.state;
  {
    const ProgramGuard guard(state.mutex);
    ++state.walks;
    prefetches = state.mapped_bytes >= kPrefetchedBytes;
  }
  if (!front.is_over_malloc) new (order_) ObjectsInOrder(ObjectsOfPool{state});
}

HandleWalk::~HandleWalk() {
  if (!front_.is_over_malloc) order_of(order_).~ObjectsInOrder();
  const ProgramGuard guard(front_.state->mutex);
  --front_.state->walks;
}

bool HandleWalk::advance() noexcept {
  if (!front_.is_over_malloc) {
    const Span* const span = order_of(order_).next();
    if (span == nullptr) return false;
    words = words_of(*span);
    objects = span->start;
    return true;
  }
  // The lowest addresses behind the last one.
  const auto is_lower = [](const Place& one, const Place& other) { return one.object < other.object; };
  const HandlePoolState& state = *front_.state;
  const ProgramGuard guard(front_.state->mutex);
  place_count = 0;
  for_each_word(state, [&](SlotWord& word) {
    const std::uint64_t value = word.load(std::memory_order_acquire);
    if ((generation_of(value) & 1) == 0) return;
    const Place place{object_of_slot(state, slot_of(handle_of(value))), &word};
    if (address_of(place.object) > last_) keep_lowest(places, place_count, kMostPlaces, place, is_lower);
  });
  std::sort_heap(places, places + place_count, is_lower);
  if (place_count != 0) last_ = address_of(places[place_count - 1].object);
  return place_count != 0;
}

}  // namespace TARN_NAMESPACE::detail
