// The slow side of Arena: chunks. Over malloc (the option pools_use_malloc) each block has its own chunk, so
// that a checker which knows malloc sees the block's end.
//
// A chunk is {header, bytes}. Chunks are linked in the order of their use; those behind the current one are
// kept for later. A chunk's used_before is the sum of bytes used in all chunks before it when the arena moved
// on to it. Headers and cleanups lie among the program's blocks: each has a seal (record_seal.h), compared by
// checked() before the record is believed, and written anew where the record changes.
#include "tarn/arena.h"

#include <cstring>
#include <new>

#include "base/units.h"
#include "general/options/configuration.h"
#include "general/options/memory_limits.h"
#include "general/options/setup.h"
#include "os/checker.h"
#include "pool/freed_block.h"
#include "pool/heaps/heap_state.h"
#include "pool/heaps/library_heaps.h"

namespace TARN_NAMESPACE::detail {

using namespace internal;

namespace {

constexpr std::size_t kLargestDoubling = std::size_t{1} << 20;
constexpr std::size_t kOsPageBytes = 4096;  // the smallest OS page of any system

/// Stops the process when a record was overwritten.
template <typename Record>
Record* checked(Record* record) {
  if (record != nullptr && record->seal != record->right_seal()) stop_at_overwritten(record);
  return record;
}

void link_behind(ArenaFront& arena, ArenaChunk* chunk) {
  chunk->next = arena.chunk != nullptr ? arena.chunk->next : arena.first;
  chunk->seal = chunk->right_seal();
  if (arena.chunk == nullptr) {
    arena.first = chunk;
    return;
  }
  arena.chunk->next = chunk;
  arena.chunk->seal = arena.chunk->right_seal();
}

HeapState* upstream(const ArenaFront& arena) {
  if (arena.options.heap != nullptr) return HeapAccess::state(*arena.options.heap);
  return arena.options.sensitive ? sensitive_arena_heap() : arena_heap();
}

bool lies_in_sensitive_heap(const ArenaOptions& options) {
  const HeapState* const heap = options.heap != nullptr ? HeapAccess::state(*options.heap) : nullptr;
  return heap != nullptr && heap->is_sensitive;
}

void end_bytes(const ArenaFront& arena, char* start, const char* end) {
  const auto bytes = static_cast<std::size_t>(end - start);
  if (bytes == 0) return;
  if (arena.options.sensitive) wipe_block(start, bytes, arena.poisons);
  if (arena.poisons) os::poison(start, bytes);
}

void stand_in(ArenaFront& arena, ArenaChunk* chunk) {
  arena.chunk = chunk;
  arena.next = chunk != nullptr ? chunk->begin() : nullptr;
  arena.end = chunk != nullptr ? chunk->end : nullptr;
}

void note_high_water(ArenaFront& arena) {
  const std::size_t used = arena_used(arena);
  if (used > arena.high_water) arena.high_water = used;
}

ArenaChunk* make_chunk_at(ArenaFront& arena, void* memory, std::size_t bytes, bool is_callers) {
  auto* const chunk = new (memory) ArenaChunk{};
  chunk->end = static_cast<char*>(memory) + bytes;
  chunk->left_at = chunk->begin();
  chunk->is_callers = is_callers;
  chunk->seal = chunk->right_seal();
  arena.capacity += chunk->bytes();
  if (arena.poisons) os::poison(chunk->begin(), chunk->bytes());
  return chunk;
}

// An arena that may not grow stays in its buffer, even a buffer too small for a chunk; without a buffer, in
// its first chunk.
bool may_take_chunk(const ArenaFront& arena) {
  return arena.options.may_grow || (arena.first == nullptr && arena.options.buffer == nullptr);
}

// \returns the bytes of the next chunk, at least `needed`; 0: the arena may not take one.
std::size_t chunk_bytes(const ArenaFront& arena, std::size_t needed) {
  const ArenaOptions& options = arena.options;
  if (arena.is_over_malloc) {
    // The blocks of an arena that may not grow may together be as large as its one chunk would be.
    const std::size_t room = options.buffer != nullptr ? options.buffer_bytes : options.initial_bytes;
    const bool has_room = arena.capacity <= room && needed <= room - arena.capacity;
    return has_room || may_take_chunk(arena) ? needed : 0;
  }
  if (!may_take_chunk(arena)) return 0;
  std::size_t bytes = options.initial_bytes;
  if (arena.chunk != nullptr) {
    const std::size_t doubled = arena.chunk->bytes() * 2;
    bytes = options.increment_bytes != 0 ? options.increment_bytes
            : doubled < kLargestDoubling ? doubled
                                         : kLargestDoubling;
  }
  return bytes > needed ? bytes : needed;
}

// Makes a chunk of at least `needed` bytes, behind the current one.
ArenaChunk* make_chunk(ArenaFront& arena, std::size_t needed) {
  const bool is_first = arena.first == nullptr;
  std::size_t bytes = chunk_bytes(arena, needed);
  if (bytes == 0 || bytes > kLargestRequest) return nullptr;
  if (arena.capacity >= arena.options.mapped_limit) return nullptr;  // the buffer may exceed the cap
  const std::size_t left = arena.options.mapped_limit - arena.capacity;
  if (needed > left) return nullptr;
  if (bytes > left) bytes = left;
  HeapState* const heap = upstream(arena);
  void* const memory = heap_allocate(heap, sizeof(ArenaChunk) + bytes, alignof(ArenaChunk));
  if (memory == nullptr) return nullptr;
  ArenaChunk* const chunk = make_chunk_at(arena, memory, sizeof(ArenaChunk) + bytes, false);
  checked(arena.chunk);
  link_behind(arena, chunk);
  if (!is_first) ++arena.overflows;
  return chunk;
}

void end_chunk(ArenaFront& arena, ArenaChunk* chunk) {
  arena.capacity -= chunk->bytes();
  if (arena.poisons) os::unpoison(chunk->begin(), chunk->bytes());
  if (!chunk->is_callers) heap_deallocate(upstream(arena), chunk);
}

char* aligned_start(ArenaChunk& chunk, std::size_t alignment) {
  return reinterpret_cast<char*>(round_up(address_of(chunk.begin()), alignment));
}

bool fits(ArenaChunk& chunk, std::size_t size, std::size_t alignment) {
  const std::uintptr_t start = address_of(aligned_start(chunk, alignment)), end = address_of(chunk.end);
  return start <= end && size <= end - start;
}

// Finds a kept chunk that has room, and moves it right behind the current one.
ArenaChunk* find_kept(ArenaFront& arena, std::size_t size, std::size_t alignment) {
  ArenaChunk* before = checked(arena.chunk);
  if (before == nullptr) return nullptr;
  for (; ArenaChunk* const chunk = checked(before->next); before = chunk) {
    if (!fits(*chunk, size, alignment)) continue;
    before->next = chunk->next;
    before->seal = before->right_seal();
    link_behind(arena, chunk);
    return chunk;
  }
  return nullptr;
}

/// Ends all chunks behind one; nullptr: all.
void end_behind(ArenaFront& arena, ArenaChunk* last) {
  ArenaChunk* next = last != nullptr ? checked(last)->next : arena.first;
  if (last == nullptr) {
    arena.first = nullptr;
  } else {
    last->next = nullptr;
    last->seal = last->right_seal();
  }
  while (ArenaChunk* const chunk = checked(next)) {
    next = chunk->next;
    end_chunk(arena, chunk);
  }
}

void run_cleanups(ArenaFront& arena, const void* until) {
  while (arena.cleanup != until && arena.cleanup != nullptr) {
    const ArenaCleanup cleanup = *checked(arena.cleanup);
    arena.cleanup = cleanup.earlier;
    cleanup.run(cleanup.context);
  }
}

// Notes in the current chunk how far it is used.
void leave(ArenaFront& arena) {
  checked(arena.chunk)->left_at = arena.next;
  arena.chunk->seal = arena.chunk->right_seal();
}

void* allocate(ArenaFront& arena, std::size_t size, std::size_t alignment) {
  ArenaChunk* chunk = find_kept(arena, size, alignment);
  if (chunk == nullptr)
    chunk = make_chunk(arena, size + (alignment > alignof(ArenaChunk) ? alignment - alignof(ArenaChunk) : 0));
  if (chunk == nullptr) return nullptr;
  if (arena.chunk != nullptr) {
    leave(arena);
    chunk->used_before = arena_used(arena);
    chunk->seal = chunk->right_seal();
  }
  stand_in(arena, chunk);
  char* const start = aligned_start(*chunk, alignment);
  arena.next = start + size;
  note_high_water(arena);
  if (arena.poisons) os::unpoison(start, size);
  if (arena.is_over_malloc) arena.next = arena.end;  // the next block finds no room here
  return start;
}

// The callbacks have run.
void rewind(ArenaFront& arena, const ArenaMark& mark) {
  auto* chunk = static_cast<ArenaChunk*>(mark.chunk);
  if (arena.chunk != nullptr) leave(arena);
  ArenaChunk* const last = arena.chunk;
  const bool begins_there = chunk == nullptr;  // the mark was set before the first chunk
  if (begins_there) chunk = arena.first;
  if (checked(chunk) == nullptr) return;
  char* const start = begins_there ? chunk->begin() : mark.next;
  end_bytes(arena, start, chunk->left_at);
  for (ArenaChunk* later = chunk; later != last;) {
    later = checked(later->next);
    end_bytes(arena, later->begin(), later->left_at);
  }
  stand_in(arena, chunk);
  arena.next = start;
  if (!arena.is_over_malloc) return;
  end_behind(arena, begins_there ? nullptr : chunk);
  if (begins_there) stand_in(arena, nullptr);
}

std::size_t prewarm(ArenaFront& arena, std::size_t bytes) {
  if (arena.is_over_malloc) return bytes;
  if (static_cast<std::size_t>(arena.end - arena.next) < bytes && find_kept(arena, bytes, 1) == nullptr) {
    ArenaChunk* const made = make_chunk(arena, bytes);
    if (made != nullptr && arena.chunk == nullptr) stand_in(arena, made);
  }
  // Backs what is left of the current chunk and of all behind it, not only of a new one.
  std::size_t largest = 0;
  for (ArenaChunk* chunk = checked(arena.chunk); chunk != nullptr; chunk = checked(chunk->next)) {
    char* const start = chunk == arena.chunk ? arena.next : chunk->begin();
    const auto room = static_cast<std::size_t>(chunk->end - start);
    if (room > largest) largest = room;
    if (arena.poisons) os::unpoison(start, room);
    for (std::size_t at = 0; at < room; at += kOsPageBytes) *static_cast<volatile char*>(start + at) = 0;
    if (arena.poisons) os::poison(start, room);
  }
  return largest;
}

}  // namespace

void make_arena(ArenaFront& arena, const ArenaOptions& options, bool poisons) noexcept {
  set_up_once();
  arena = {};
  arena.is_over_malloc = configuration.is_on(Option::kPoolsUseMalloc);
  arena.options = options;
  arena.options.sensitive |= lies_in_sensitive_heap(options);
  arena.poisons = poisons;
  if (options.name.is_empty()) arena.options.name = "arena";
  char* const start = reinterpret_cast<char*>(round_up(address_of(options.buffer), alignof(ArenaChunk)));
  const std::size_t lost = static_cast<std::size_t>(start - static_cast<char*>(options.buffer));
  // A buffer too small for a chunk's head gives no memory; an arena that may not grow then has none at all.
  if (arena.is_over_malloc || options.buffer == nullptr || options.buffer_bytes < lost + sizeof(ArenaChunk))
    return;
  arena.first = make_chunk_at(arena, start, options.buffer_bytes - lost, true);
  stand_in(arena, arena.first);
}

void end_arena(ArenaFront& arena) noexcept {
  arena_rewind(arena, {});
  end_behind(arena, nullptr);
}

void* arena_allocate_slow(ArenaFront& arena, std::size_t size, std::size_t alignment) noexcept {
  if (!is_power_of_two(alignment) || alignment > kLargestRequest || size > kLargestRequest) return nullptr;
  return allocate(arena, size, alignment);
}

void arena_rewind(ArenaFront& arena, const ArenaMark& mark) noexcept {
  note_high_water(arena);
  run_cleanups(arena, mark.cleanup);
  rewind(arena, mark);
}

std::size_t arena_release_unused(ArenaFront& arena) noexcept {
  const std::size_t before = arena.capacity;
  if (arena.chunk != nullptr) end_behind(arena, arena.chunk);
  return before - arena.capacity;
}

std::size_t arena_prewarm(ArenaFront& arena, std::size_t bytes) noexcept {
  return may_be_had(bytes) ? prewarm(arena, bytes) : 0;
}

std::size_t arena_used(const ArenaFront& arena) noexcept {
  return arena.chunk == nullptr ? 0
                                : checked(arena.chunk)->used_before +
                                      static_cast<std::size_t>(arena.next - arena.chunk->begin());
}

bool arena_owns(const ArenaFront& arena, const void* pointer) noexcept {
  for (const ArenaChunk* chunk = checked(arena.first); chunk != nullptr; chunk = checked(chunk->next))
    if (address_of(pointer) - address_of(chunk->begin()) < chunk->bytes()) return true;
  return false;
}

}  // namespace TARN_NAMESPACE::detail
