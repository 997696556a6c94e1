// Chunks of slots: their records, the memory for their objects, the tables that name them, and walks.
#include "pool/handle_chunks.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/units.h"
#include "base/wipe.h"
#include "os/checker.h"
#include "os/memory.h"
#include "page/metadata.h"
#include "page/page_cache.h"
#include "page/page_map.h"
#include "page/spans.h"
#include "tarn/detail/live_walk.h"

namespace TARN_NAMESPACE::detail {

using namespace internal;

namespace {

constexpr std::size_t kColouredStride = 128;  // a stride that is a multiple leaves cache sets unused
constexpr std::size_t kLargestColoured = 8 * 1024;
constexpr std::size_t kDenseBytes = 8 * 1024 * 1024;  // pools from this size on fill their huge pages
constexpr std::uint32_t kFirstRoom = 16;              // chunks

// Whole pages, so that large arrays go back when they end. \returns nothing when memory is refused.
HandleArray make_array(std::size_t bytes) {
  const PageCount pages = pages_for(bytes);
  const Span* const span = allocate_span({.pages = pages, .kind = SpanKind::kPool});
  if (span == nullptr) return {};
  os::note_ordered_by_atomics(span->start, bytes_of(pages));
  return {span->start, bytes_of(pages)};
}

void end_array(const HandleArray& array, ReturnedPages& returned) {
  if (array.start == nullptr) return;
  os::note_ordered_no_more(array.start, array.bytes);
  free_span(page_map.find(array.start), returned);
}

std::size_t record_bytes(const HandlePoolState& state) {
  const std::size_t slots = slots_per_chunk(state);
  const std::size_t bytes =
      sizeof(HandleChunk) + round_up(slots * (sizeof(std::uint32_t) + sizeof(std::uint8_t)), sizeof(void*));
  return state.front->is_over_malloc ? bytes + slots * sizeof(void*) : bytes;
}

// Makes room for one more chunk in the table, in `order` and in the stack.
bool make_room(HandlePoolState& state, ReturnedPages& returned) {
  if (state.chunk_count < state.chunk_room) return true;
  const std::uint32_t room = state.chunk_room == 0 ? kFirstRoom : state.chunk_room * 2;
  if (state.chunk_array_count == HandlePoolState::kGrowths) return false;
  const HandleArray chunks = make_array(2 * room * sizeof(HandleChunk*));
  const HandleArray stack = make_array((std::size_t{room} << state.type.shift) * sizeof(std::uint64_t));
  if (chunks.start == nullptr || stack.start == nullptr) {
    end_array(chunks, returned);
    end_array(stack, returned);
    return false;
  }
  HandleFront& front = *state.front;
  auto** const table = static_cast<HandleChunk**>(chunks.start);
  for (std::uint32_t i = 0; i < state.chunk_count; ++i) table[i] = &chunk_at(state, i);
  std::copy(state.order, state.order + state.order_count, table + room);
  auto* const handles = static_cast<std::uint64_t*>(stack.start);
  std::uint64_t* const top = std::copy(state.free_handles, state.free_top, handles);
  end_array(state.stack, returned);
  state.stack = stack;
  state.free_handles = handles;
  state.free_top = top;
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
    const Density usual = is_dense ? Density::kDense : Density::kSparse;
    Span* const span = allocate_span({.pages = pages_for(bytes),
                                      .kind = SpanKind::kPool,
                                      .density = density_of(state, usual),
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
    if (const std::uint32_t generation = chunk.generations()[index].load(std::memory_order_relaxed);
        generation != HandleFront::kRetired)
      *state.free_top++ = handle_word(chunk.first_slot + index, generation + 1);
  return true;
}

}  // namespace

std::uint32_t usable_slots(const HandlePoolState& state) {
  const std::size_t bytes = slots_per_chunk(state) * state.type.stride;
  const bool is_full = has_colours(state.type) && bytes % kPageBytes == 0;
  return is_full ? slots_per_chunk(state) - 1 : slots_per_chunk(state);
}

std::uint32_t live_in(HandleChunk& chunk) {
  std::uint32_t count = 0;
  for (std::uint32_t index = 0; index < chunk.usable_count; ++index)
    count += has_object(chunk, index) ? 1 : 0;
  return count;
}

std::size_t live_count(const HandlePoolState& state) {
  std::size_t count = 0;
  for_each_live_slot(state, [&](HandleChunk&, std::uint32_t) { ++count; });
  return count;
}

bool grow_handle_pool(HandlePoolState& state, ReturnedPages& returned) {
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
  clear_unseen(record, record_bytes(state));
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
  slot_count_of(front).store(state.chunk_count << state.type.shift, std::memory_order_release);
  return true;
}

void end_memory_of_chunk(HandlePoolState& state, HandleChunk& chunk, ReturnedPages& returned) {
  char* const objects = chunk.objects.load(std::memory_order_relaxed);
  HandleChunk** const place = place_in_order(state, objects);
  std::copy(place + 1, state.order + state.order_count, place);
  --state.order_count;
  Span* const span = page_map.find(objects);
  if (state.type.poisons) os::unpoison(span->first_page(), span->bytes());
  state.mapped_bytes -= chunk.span_bytes;
  chunk.objects.store(nullptr, std::memory_order_relaxed);
  span->set_pool(nullptr);
  free_span(span, returned);
}

void populate_chunks(const HandlePoolState& state) {
  for (std::uint32_t i = 0; i < state.order_count; ++i) {
    const Span* const span = page_map.find(state.order[i]->objects.load(std::memory_order_relaxed));
    os::populate(span->first_page(), span->bytes());
  }
}

void end_stack(HandlePoolState& state, ReturnedPages& returned) {
  end_array(state.stack, returned);
  state.stack = {};
}

void end_chunk_records(HandlePoolState& state, ReturnedPages& returned) {
  for (std::uint32_t i = 0; i < state.chunk_count; ++i)
    metadata.free(&chunk_at(state, i), record_bytes(state));
  for (unsigned i = 0; i < state.chunk_array_count; ++i) end_array(state.chunk_arrays[i], returned);
}

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

}  // namespace TARN_NAMESPACE::detail
