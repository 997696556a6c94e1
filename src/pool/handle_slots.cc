// The slow side of HandlePool: chunks of slots with memory for their objects, the stack of free slots, and
// magazines for the threads of a process that has several.
#include "tarn/detail/handle_slots.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/text.h"
#include "base/units.h"
#include "general/configuration.h"
#include "general/memory_limits.h"
#include "general/pool_registry.h"
#include "general/setup.h"
#include "general/system_blocks.h"
#include "os/checker.h"
#include "os/fatal.h"
#include "os/held_locks.h"
#include "os/memory.h"
#include "page/metadata.h"
#include "page/page_cache.h"
#include "page/page_map.h"
#include "page/spans.h"
#include "pool/handle_pool_state.h"
#include "tarn/detail/live_walk.h"

namespace TARN_NAMESPACE::detail {

using namespace internal;

namespace {

constexpr std::size_t kMagazineBytes = 256 * 1024;  // of objects whose slots a magazine has
constexpr std::size_t kColouredStride = 128;        // a stride that is a multiple leaves cache sets unused
constexpr std::size_t kLargestColoured = 8 * 1024;
constexpr std::size_t kDenseBytes = 8 * 1024 * 1024;  // pools from this size on fill their huge pages
constexpr std::uint32_t kFirstRoom = 16;              // chunks

HandlePoolState& state_of(PoolHeader& pool) { return static_cast<HandlePoolState&>(pool); }

std::uint32_t slots_per_chunk(const HandlePoolState& state) { return std::uint32_t{1} << state.type.shift; }

HandleChunk& chunk_at(const HandlePoolState& state, std::uint32_t index) {
  return *state.front->chunks.load(std::memory_order_relaxed)[index];
}
HandleChunk& chunk_of_slot(const HandlePoolState& state, std::uint32_t slot) {
  return chunk_at(state, slot >> state.type.shift);
}
std::uint32_t index_of_slot(const HandlePoolState& state, std::uint32_t slot) {
  return slot & (slots_per_chunk(state) - 1);
}

bool has_object(HandleChunk& chunk, std::uint32_t index) {
  return (chunk.generations()[index].load(std::memory_order_acquire) & 1) != 0;
}

/// Calls visit(chunk, index) for each live slot, in the order of chunks.
template <typename Visit>
void for_each_live_slot(const HandlePoolState& state, Visit visit) {
  for (std::uint32_t i = 0; i < state.chunk_count; ++i) {
    HandleChunk& chunk = chunk_at(state, i);
    for (std::uint32_t index = 0; index < chunk.usable_count; ++index)
      if (has_object(chunk, index)) visit(chunk, index);
  }
}

std::size_t live_count(const HandlePoolState& state) {
  std::size_t count = 0;
  for_each_live_slot(state, [&](HandleChunk&, std::uint32_t) { ++count; });
  return count;
}

/// Whole pages, so that large arrays go back when they end. \returns nothing when memory is refused.
HandleArray make_array(std::size_t bytes) {
  const PageCount pages = pages_for(bytes);
  const Span* const span = allocate_span({.pages = pages, .kind = SpanKind::kPool});
  return span != nullptr ? HandleArray{span->start, bytes_of(pages)} : HandleArray{};
}

void end_array(const HandleArray& array, ReturnedPages& returned) {
  if (array.start != nullptr) free_span(page_map.find(array.start), returned);
}

std::size_t record_bytes(const HandlePoolState& state) {
  const std::size_t slots = slots_per_chunk(state);
  const std::size_t bytes = sizeof(HandleChunk) + round_up(slots * sizeof(std::uint32_t), sizeof(void*));
  return state.front->is_over_malloc ? bytes + slots * sizeof(void*) : bytes;
}

/// Makes room for one more chunk in the table, in `order` and in the stack.
bool make_room(HandlePoolState& state, ReturnedPages& returned) {
  if (state.chunk_count < state.chunk_room) return true;
  const std::uint32_t room = state.chunk_room == 0 ? kFirstRoom : state.chunk_room * 2;
  if (state.chunk_array_count == HandlePoolState::kGrowths) return false;
  const HandleArray chunks = make_array(2 * room * sizeof(HandleChunk*));
  const HandleArray stack = make_array((std::size_t{room} << state.type.shift) * sizeof(std::uint32_t));
  if (chunks.start == nullptr || stack.start == nullptr) {
    end_array(chunks, returned);
    end_array(stack, returned);
    return false;
  }
  HandleFront& front = *state.front;
  auto** const table = static_cast<HandleChunk**>(chunks.start);
  for (std::uint32_t i = 0; i < state.chunk_count; ++i) table[i] = &chunk_at(state, i);
  std::copy(state.order, state.order + state.order_count, table + room);
  const auto free_count = static_cast<std::size_t>(front.free_top - front.free_slots);
  auto* const slots = static_cast<std::uint32_t*>(stack.start);
  std::copy(front.free_slots, front.free_top, slots);
  end_array(state.stack, returned);
  state.stack = stack;
  front.free_slots = slots;
  front.free_top = slots + free_count;
  state.chunk_arrays[state.chunk_array_count++] = chunks;
  state.chunk_room = room;
  state.order = table + room;
  front.chunks.store(table, std::memory_order_release);
  return true;
}

// If all chunks' objects would start on the same cache sets, each chunk begins a line later than the last.
bool has_colours(const HandlePoolType& type) {
  return type.stride % kColouredStride == 0 && type.stride <= kLargestColoured &&
         type.alignment <= kCacheLineBytes;
}

std::uint32_t usable_slots(const HandlePoolState& state) {
  const std::size_t bytes = slots_per_chunk(state) * state.type.stride;
  const bool is_full = has_colours(state.type) && bytes % kPageBytes == 0;
  return is_full ? slots_per_chunk(state) - 1 : slots_per_chunk(state);
}

HandleChunk** place_in_order(const HandlePoolState& state, const char* objects) {
  return std::lower_bound(state.order, state.order + state.order_count, objects,
                          [](const HandleChunk* chunk, const char* address) {
                            return chunk->objects.load(std::memory_order_relaxed) < address;
                          });
}

// Gives a chunk memory for its objects, and puts its slots on the stack: the lowest on top.
bool give_memory(HandlePoolState& state, HandleChunk& chunk) {
  HandleFront& front = *state.front;
  if (!front.is_over_malloc) {
    const std::size_t bytes = chunk.usable_count * state.type.stride;
    const bool is_dense = state.mapped_bytes >= kDenseBytes && page_cache.uses_huge_pages();
    Span* const span = allocate_span({.pages = pages_for(bytes),
                                      .kind = SpanKind::kPool,
                                      .density = is_dense ? Density::kDense : Density::kSparse,
                                      .pool = &state});
    if (span == nullptr) return false;
    if (state.type.poisons) os::poison(span->start, span->bytes());
    if (has_colours(state.type)) {
      const std::size_t colour =
          state.chunks_made++ % (state.type.stride / kCacheLineBytes) * kCacheLineBytes;
      if (colour + bytes <= span->bytes()) span->start += colour;
    }
    span->free_bits = reinterpret_cast<std::uint64_t*>(&chunk);
    span->stride = static_cast<std::uint32_t>(state.type.stride);
    chunk.span_bytes = span->bytes();
    state.mapped_bytes += chunk.span_bytes;
    HandleChunk** const place = place_in_order(state, span->start);
    std::copy_backward(place, state.order + state.order_count, state.order + state.order_count + 1);
    *place = &chunk;
    ++state.order_count;
    chunk.objects.store(span->start, std::memory_order_release);
  }
  for (std::uint32_t index = chunk.usable_count; index-- > 0;)
    if (chunk.generations()[index].load(std::memory_order_relaxed) != HandleFront::kRetired)
      *front.free_top++ = chunk.first_slot + index;
  return true;
}

// Makes free slots: those of a chunk that has no memory, else of a new chunk.
bool grow(HandlePoolState& state, ReturnedPages& returned) {
  HandleFront& front = *state.front;
  if (!front.is_over_malloc && state.order_count != state.chunk_count)
    for (std::uint32_t i = 0; i < state.chunk_count; ++i)
      if (HandleChunk& chunk = chunk_at(state, i); chunk.objects.load(std::memory_order_relaxed) == nullptr &&
                                                   chunk.retired_count != chunk.usable_count)
        return give_memory(state, chunk);
  const std::uint32_t first = state.chunk_count << state.type.shift;
  if (first >= HandleFront::kMostSlots || !make_room(state, returned)) return false;
  void* const record = metadata.allocate(record_bytes(state));
  if (record == nullptr) return false;
  std::memset(record, 0, record_bytes(state));
  auto* const chunk = new (record) HandleChunk{};
  chunk->first_slot = first;
  chunk->usable_count = usable_slots(state);
  if (front.is_over_malloc)
    chunk->blocks = reinterpret_cast<std::atomic<void*>*>(static_cast<char*>(record) + record_bytes(state)) -
                    slots_per_chunk(state);
  if (!give_memory(state, *chunk)) {
    metadata.free(record, record_bytes(state));
    return false;
  }
  front.chunks.load(std::memory_order_relaxed)[state.chunk_count++] = chunk;
  front.slot_count.store(state.chunk_count << state.type.shift, std::memory_order_release);
  return true;
}

void end_memory(HandlePoolState& state, HandleChunk& chunk, ReturnedPages& returned) {
  char* const objects = chunk.objects.load(std::memory_order_relaxed);
  HandleChunk** const place = place_in_order(state, objects);
  std::copy(place + 1, state.order + state.order_count, place);
  --state.order_count;
  Span* const span = page_map.find(objects);
  if (state.type.poisons) os::unpoison(span->first_page(), span->bytes());
  state.mapped_bytes -= chunk.span_bytes;
  chunk.objects.store(nullptr, std::memory_order_relaxed);
  span->set_marked_pool(nullptr);
  free_span(span, returned);
}

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

std::uint32_t take_from_stack(HandlePoolState& state, ReturnedPages& returned) {
  HandleFront& front = *state.front;
  if (front.free_top == front.free_slots && !grow(state, returned)) return HandleFront::kNoSlot;
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

std::size_t release_unused(HandlePoolState& state, ReturnedPages& returned) {
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
    if (is_unused(*state.order[i])) end_memory(state, *state.order[i], returned);
  return before - state.mapped_bytes;
}

void report_live(const HandlePoolState& state, std::size_t count) {
  FixedText<256> line;
  line.add("tarn: '").add(state.name).add("' ended with ").add_decimal(count);
  line.add(count == 1 ? " live object of " : " live objects of ")
      .add_decimal(state.type.bytes)
      .add(" bytes\n");
  os::write_line(line.data(), line.length());
}

void free_of_malloc(HandlePoolState& state, HandleChunk& chunk, std::uint32_t index) {
  std::size_t bytes = 0;
  void* const block = chunk.blocks[index].exchange(nullptr, std::memory_order_relaxed);
  system_blocks.deallocate(state, block, &bytes);
}

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
    if (state.front->checked_as != nullptr) os::note_pool_free(&state, object);
    if (chunk.blocks != nullptr) free_of_malloc(state, chunk, index);
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

std::uint32_t live_in(HandleChunk& chunk) {
  std::uint32_t count = 0;
  for (std::uint32_t index = 0; index < chunk.usable_count; ++index)
    count += has_object(chunk, index) ? 1 : 0;
  return count;
}

// A block that tarn::deallocate was given: right only for an object that its pool has handed over.
void deallocate_any(PoolHeader& pool, void* block) {
  constexpr const char* kNoBlock = "free of a pointer that is no block of the pool";
  HandlePoolState& state = state_of(pool);
  if (!state.has_ended) os::fatal_in_pool(state.name, kNoBlock, block);
  // Its slot counts as live ever after.
  if (system_blocks.pool_of(block) == &state) {
    std::size_t bytes = 0;
    system_blocks.deallocate(state, block, &bytes);
    return;
  }
  ReturnedPages returned;
  const os::LockGuard guard(state.mutex);
  const Span* const span = page_map.find(block);
  if (span == nullptr || span->marked_pool() != &state) os::fatal_in_pool(state.name, kNoBlock, block);
  HandleChunk& chunk = *reinterpret_cast<HandleChunk*>(span->free_bits);
  const std::size_t offset = address_of(block) - address_of(span->start), index = offset / state.type.stride;
  if (address_of(block) < address_of(span->start) || index >= chunk.usable_count)
    os::fatal_in_pool(state.name, kNoBlock, block);
  if (index * state.type.stride != offset)
    os::fatal_in_pool(state.name, "free of a pointer into a block", block);
  if (!has_object(chunk, static_cast<std::uint32_t>(index)))
    os::fatal_in_pool(state.name, "double free", block);
  chunk.generations()[index].fetch_add(1, std::memory_order_relaxed);
  if (live_in(chunk) == 0) end_memory(state, chunk, returned);
}

std::size_t usable_size_of(PoolHeader& pool, const void*) { return state_of(pool).type.bytes; }

PoolUse use_of(PoolHeader& pool, ReturnedPages&) {
  HandlePoolState& state = state_of(pool);
  const ProgramGuard guard(state.mutex);
  const std::size_t live = live_count(state), stride = state.type.stride;
  const std::size_t mapped = state.front->is_over_malloc ? live * stride : state.mapped_bytes;
  return {state.operations->kind, state.name, stride, live, live * stride, 0, mapped, false};
}

std::size_t release_unused_any(PoolHeader& pool, ReturnedPages& returned) {
  return release_unused(state_of(pool), returned);
}

constexpr PoolOperations kOperations{.kind = "handle pool",
                                     .deallocate = deallocate_any,
                                     .usable_size = usable_size_of,
                                     .use = use_of,
                                     .release_unused = release_unused_any};

// Frees what the pool itself has; chunks that hold objects stay with their records.
void end_records(HandlePoolState& state, ReturnedPages& returned) {
  for (std::atomic<HandleMagazine*>& place : state.magazines)
    if (HandleMagazine* const magazine = place.exchange(nullptr, std::memory_order_relaxed))
      metadata.free(magazine, sizeof(HandleMagazine));
  end_array(state.stack, returned);
  state.stack = {};
  for (std::uint32_t i = 0; i < state.chunk_count; ++i)
    if (HandleChunk& chunk = chunk_at(state, i);
        chunk.objects.load(std::memory_order_relaxed) != nullptr && live_in(chunk) == 0)
      end_memory(state, chunk, returned);
}

// The record stays for the objects that the pool has handed over; the program's pool object does not. From
// now on a trim by another thread leaves the pool alone.
void outlive(HandlePoolState& state, ReturnedPages& returned) {
  const os::LockGuard guard(state.mutex);
  const HandleFront& front = *state.front;
  end_records(state, returned);
  state.last_front.chunks.store(front.chunks.load(std::memory_order_relaxed), std::memory_order_relaxed);
  state.last_front.slot_count.store(front.slot_count, std::memory_order_relaxed);
  state.last_front.is_over_malloc = front.is_over_malloc;
  state.last_front.state = &state;
  state.front = &state.last_front;
  state.has_ended = true;
}

}  // namespace

HandleWalk::HandleWalk(HandleFront& front) noexcept : front_(front) {
  const ProgramGuard guard(front.state->mutex);
  ++front.state->walks;
  prefetches = front.state->mapped_bytes >= kPrefetchedBytes;
}

HandleWalk::~HandleWalk() {
  const ProgramGuard guard(front_.state->mutex);
  --front_.state->walks;
}

bool HandleWalk::advance() noexcept {
  const HandlePoolState& state = *front_.state;
  const ProgramGuard guard(front_.state->mutex);
  if (!front_.is_over_malloc) {
    // Mostly the next one; elsewhere when chunks were made meanwhile.
    const bool is_there = chunk != nullptr && state.order[position_] == chunk;
    position_ = is_there ? position_ + 1
                         : static_cast<std::uint32_t>(
                               place_in_order(state, reinterpret_cast<const char*>(last_ + 1)) - state.order);
    if (position_ == state.order_count) return false;
    chunk = state.order[position_];
    last_ = address_of(chunk->objects.load(std::memory_order_relaxed));
    return true;
  }
  // The lowest addresses behind the last one: a heap with the highest on top, then sorted.
  const auto is_lower = [](const Place& one, const Place& other) { return one.object < other.object; };
  place_count = 0;
  for_each_live_slot(state, [&](const HandleChunk& of, std::uint32_t index) {
    const Place place{of.blocks[index].load(std::memory_order_relaxed), of.first_slot + index};
    if (address_of(place.object) <= last_) return;
    if (place_count == kMostPlaces) {
      if (!is_lower(place, places[0])) return;
      std::pop_heap(places, places + place_count--, is_lower);
    }
    places[place_count++] = place;
    std::push_heap(places, places + place_count, is_lower);
  });
  std::sort_heap(places, places + place_count, is_lower);
  if (place_count != 0) last_ = address_of(places[place_count - 1].object);
  return place_count != 0;
}

bool make_handle_pool(HandleFront& front, const char* name, bool reports, bool destroys,
                      std::size_t initial_count, const HandlePoolType& type) noexcept {
  set_up_once();
  void* const record = metadata.allocate(sizeof(HandlePoolState));
  if (record == nullptr) return false;
  auto* const state = new (record) HandlePoolState{};
  state->operations = &kOperations;
  state->set_name(name, "handle pool");
  state->type = type;
  state->reports = reports;
  state->destroys = destroys;
  state->front = &front;
  state->stack_owner = lies_on_this_stack(&front) ? &thread_cache : nullptr;
  state->magazine_slots = static_cast<std::uint32_t>(
      std::clamp<std::size_t>(kMagazineBytes / type.stride, 2, HandleMagazine::kMostSlots));
  front.free_top = front.free_slots = nullptr;
  front.chunks.store(nullptr, std::memory_order_relaxed);
  front.slot_count.store(0, std::memory_order_relaxed);
  front.is_over_malloc = configuration.is_on(Option::kPoolsUseMalloc);
  front.state = state;
  front.checked_as = type.poisons ? state : nullptr;
  if (front.is_over_malloc) state->type.poisons = false;
  if (type.poisons) os::begin_checked_pool(state);
  pool_registry.add(*state);
  if (handle_pool_prewarm(front, initial_count) >= initial_count) return true;
  end_handle_pool(front);
  return false;
}

void end_handle_pool(HandleFront& front) noexcept {
  HandlePoolState& state = *front.state;
  std::size_t live = live_count(state);
  if (live != 0 && state.reports) report_live(state, live);
  if (live != 0 && state.destroys) {
    destroy_live(state);
    live = live_count(state);  // what their destructors have made is handed over
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
  for (std::uint32_t i = 0; i < state.chunk_count; ++i)
    metadata.free(&chunk_at(state, i), record_bytes(state));
  for (unsigned i = 0; i < state.chunk_array_count; ++i) end_array(state.chunk_arrays[i], returned);
  metadata.free(&state, sizeof(HandlePoolState));
}

std::uint32_t take_handle_slot(HandleFront& front) noexcept {
  HandlePoolState& state = *front.state;
  const std::uint32_t slot = take_slot(state);
  if (!front.is_over_malloc || slot == HandleFront::kNoSlot) return slot;
  void* const block = system_blocks.allocate(state, state.type.bytes, state.type.alignment);
  if (block == nullptr) {
    give_back_slot(state, slot);
    return HandleFront::kNoSlot;
  }
  chunk_of_slot(state, slot).blocks[index_of_slot(state, slot)].store(block, std::memory_order_relaxed);
  return slot;
}

void give_back_handle_slot(HandleFront& front, std::uint32_t slot) noexcept {
  HandlePoolState& state = *front.state;
  if (front.is_over_malloc) free_of_malloc(state, chunk_of_slot(state, slot), index_of_slot(state, slot));
  give_back_slot(state, slot);
}

void retire_handle_slot(HandleFront& front, std::uint32_t slot) noexcept {
  HandlePoolState& state = *front.state;
  HandleChunk& chunk = chunk_of_slot(state, slot);
  if (front.is_over_malloc) free_of_malloc(state, chunk, index_of_slot(state, slot));
  const ProgramGuard guard(state.mutex);
  ++chunk.retired_count;
}

std::size_t handle_pool_live_count(const HandleFront& front) noexcept {
  const ProgramGuard guard(front.state->mutex);
  return live_count(*front.state);
}

std::size_t handle_pool_prewarm(HandleFront& front, std::size_t count) noexcept {
  HandlePoolState& state = *front.state;
  if (count == 0 || front.is_over_malloc) return count;
  std::size_t made = 0;
  take_within_limits([&] {
    ReturnedPages returned;
    const ProgramGuard guard(state.mutex);
    const auto free_count = [&] { return static_cast<std::size_t>(front.free_top - front.free_slots); };
    while (free_count() < count && grow(state, returned)) {
    }
    for (std::uint32_t i = 0; i < state.order_count; ++i) {
      const Span* const span = page_map.find(state.order[i]->objects.load(std::memory_order_relaxed));
      os::populate(span->first_page(), span->bytes());
    }
    made = free_count();
    return made >= count;
  });
  return made;
}

std::size_t handle_pool_release_unused(HandleFront& front) noexcept {
  ReturnedPages returned;
  return release_unused(*front.state, returned);
}

void stop_at_stale_handle(const HandleFront& front, std::uint32_t slot, std::uint32_t generation) noexcept {
  const std::uintptr_t handle = (std::uintptr_t{generation} << 32) | slot;
  os::fatal_in_pool(front.state->name, "use of a handle whose object has ended",
                    reinterpret_cast<const void*>(handle));
}

void validate(HandlePoolState& state) {
  const HandleFront& front = *state.front;
  TARN_CHECK(front.slot_count == state.chunk_count << state.type.shift);
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
    TARN_CHECK(span != nullptr && span->start == objects && span->marked_pool() == &state);
    TARN_CHECK(i == 0 || state.order[i - 1]->objects.load() < objects);
    bytes += span->bytes();
  }
  TARN_CHECK(bytes == state.mapped_bytes);
  const auto check = [&](const std::uint32_t* slots, std::size_t count) {
    entries += count;
    for (std::size_t i = 0; i < count; ++i) {
      HandleChunk& chunk = chunk_of_slot(state, slots[i]);
      TARN_CHECK(index_of_slot(state, slots[i]) < chunk.usable_count);
      TARN_CHECK(!has_object(chunk, index_of_slot(state, slots[i])));
      TARN_CHECK(++chunk.free_count <= chunk.usable_count);
    }
  };
  check(front.free_slots, static_cast<std::size_t>(front.free_top - front.free_slots));
  for (const std::atomic<HandleMagazine*>& place : state.magazines)
    if (const HandleMagazine* const magazine = place.load()) check(magazine->slots, magazine->count);
  TARN_CHECK(live + entries + retired == usable);
}

}  // namespace TARN_NAMESPACE::detail
