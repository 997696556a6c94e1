// The slow side of Arena: chunks.
//
// A chunk is {header, bytes}. Chunks are linked in the order of their use; those behind the current one are
// kept for later. A chunk's used_before is the sum of bytes used in all chunks before it when the arena moved
// on to it.
#include "tarn/arena.h"

#include <cstring>
#include <new>

#include "base/units.h"
#include "general/configuration.h"
#include "general/setup.h"
#include "os/checker.h"
#include "pool/arena_heap.h"

namespace TARN_NAMESPACE::detail {

using namespace internal;

struct alignas(16) ArenaChunk {
  ArenaChunk* next;
  char* end;
  char* left_at;  // the end of the used bytes, after the arena has moved on
  std::size_t used_before;
  bool is_callers;

  char* begin() { return reinterpret_cast<char*>(this + 1); }
  std::size_t bytes() { return static_cast<std::size_t>(end - begin()); }
};

namespace {

constexpr std::size_t kLargestDoubling = std::size_t{1} << 20;
constexpr std::size_t kLargestRequest = std::size_t{1} << 46;
constexpr std::size_t kOsPageBytes = 4096;  // the smallest OS page of any system

HeapState* upstream(const ArenaFront& arena) {
  return arena.options.heap != nullptr ? HeapAccess::state(*arena.options.heap) : arena_heap();
}

bool takes_each_block_from_malloc() { return configuration.is_on(Option::kPoolsUseMalloc); }

void wipe(void* start, std::size_t bytes) {
  std::memset(start, 0, bytes);
  asm volatile("" : : "r"(start) : "memory");  // keeps the compiler from removing the stores
}

void end_bytes(const ArenaFront& arena, char* start, const char* end) {
  const auto bytes = static_cast<std::size_t>(end - start);
  if (bytes == 0) return;
  if (arena.options.wipes) {
    if (arena.poisons) os::unpoison(start, bytes);
    wipe(start, bytes);
  }
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
  arena.capacity += chunk->bytes();
  if (arena.poisons) os::poison(chunk->begin(), chunk->bytes());
  return chunk;
}

std::size_t next_chunk_bytes(const ArenaFront& arena, std::size_t needed) {
  if (takes_each_block_from_malloc()) return needed;
  std::size_t bytes = arena.options.initial_bytes;
  if (arena.chunk != nullptr) {
    const std::size_t doubled = arena.chunk->bytes() * 2;
    bytes = arena.options.increment_bytes != 0 ? arena.options.increment_bytes
            : doubled < kLargestDoubling       ? doubled
                                               : kLargestDoubling;
  }
  return bytes > needed ? bytes : needed;
}

// An arena that may not grow stays in its buffer, even a buffer too small for a chunk; without a buffer, in
// its first chunk.
bool may_take_chunk(const ArenaFront& arena, std::size_t needed) {
  const bool is_without_memory = arena.first == nullptr && arena.options.buffer == nullptr;
  if (arena.options.may_grow || is_without_memory) return true;
  if (!takes_each_block_from_malloc()) return false;
  // Over malloc, each block has its own chunk: together these may be as large as the one chunk would be.
  const std::size_t room =
      arena.options.buffer != nullptr ? arena.options.buffer_bytes : arena.options.initial_bytes;
  return arena.capacity <= room && needed <= room - arena.capacity;
}

// Makes a chunk of at least `needed` bytes, behind the current one.
ArenaChunk* make_chunk(ArenaFront& arena, std::size_t needed) {
  const bool is_first = arena.first == nullptr;
  if (!may_take_chunk(arena, needed)) return nullptr;
  std::size_t bytes = next_chunk_bytes(arena, needed);
  if (arena.capacity >= arena.options.largest_bytes) return nullptr;  // the buffer may exceed the cap
  const std::size_t left = arena.options.largest_bytes - arena.capacity;
  if (needed > left) return nullptr;
  if (bytes > left) bytes = left;
  HeapState* const heap = upstream(arena);
  void* const memory = heap_allocate(heap, sizeof(ArenaChunk) + bytes, alignof(ArenaChunk));
  if (memory == nullptr) return nullptr;
  ArenaChunk* const chunk = make_chunk_at(arena, memory, sizeof(ArenaChunk) + bytes, false);
  ArenaChunk*& link = arena.chunk != nullptr ? arena.chunk->next : arena.first;
  chunk->next = link;
  link = chunk;
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
  if (arena.chunk == nullptr) return nullptr;
  for (ArenaChunk** link = &arena.chunk->next; *link != nullptr; link = &(*link)->next) {
    ArenaChunk* const chunk = *link;
    if (!fits(*chunk, size, alignment)) continue;
    *link = chunk->next;
    chunk->next = arena.chunk->next;
    arena.chunk->next = chunk;
    return chunk;
  }
  return nullptr;
}

void move_on_to(ArenaFront& arena, ArenaChunk* chunk) {
  if (arena.chunk != nullptr) {
    arena.chunk->left_at = arena.next;
    chunk->used_before = arena_used(arena);
  }
  stand_in(arena, chunk);
}

void end_behind(ArenaFront& arena, ArenaChunk** link) {
  while (ArenaChunk* const chunk = *link) {
    *link = chunk->next;
    end_chunk(arena, chunk);
  }
}

void run_cleanups(ArenaFront& arena, const void* until) {
  while (arena.cleanup != until && arena.cleanup != nullptr) {
    const ArenaCleanup cleanup = *arena.cleanup;
    arena.cleanup = cleanup.earlier;
    cleanup.run(cleanup.context);
  }
}

}  // namespace

void make_arena(ArenaFront& arena, const ArenaOptions& options, bool poisons) noexcept {
  set_up_once();
  arena = {};
  arena.options = options;
  arena.poisons = poisons;
  std::strncpy(arena.name, options.name != nullptr ? options.name : "arena", sizeof arena.name - 1);
  char* const start = reinterpret_cast<char*>(round_up(address_of(options.buffer), alignof(ArenaChunk)));
  const std::size_t lost = static_cast<std::size_t>(start - static_cast<char*>(options.buffer));
  if (options.buffer == nullptr || options.buffer_bytes < lost + sizeof(ArenaChunk)) return;
  if (takes_each_block_from_malloc()) return;
  arena.first = make_chunk_at(arena, start, options.buffer_bytes - lost, true);
  stand_in(arena, arena.first);
}

void end_arena(ArenaFront& arena) noexcept {
  arena_reset(arena);
  end_behind(arena, &arena.first);
}

void* arena_allocate_slow(ArenaFront& arena, std::size_t size, std::size_t alignment) noexcept {
  if (!is_power_of_two(alignment) || alignment > kLargestRequest || size > kLargestRequest) return nullptr;
  ArenaChunk* chunk = find_kept(arena, size, alignment);
  if (chunk == nullptr)
    chunk = make_chunk(arena, size + (alignment > alignof(ArenaChunk) ? alignment - alignof(ArenaChunk) : 0));
  if (chunk == nullptr) return nullptr;
  move_on_to(arena, chunk);
  char* const start = aligned_start(*chunk, alignment);
  arena.next = start + size;
  if (takes_each_block_from_malloc()) arena.next = arena.end;
  note_high_water(arena);
  if (arena.poisons) os::unpoison(start, size);
  return start;
}

void arena_rewind(ArenaFront& arena, const ArenaMark& mark) noexcept {
  note_high_water(arena);
  run_cleanups(arena, mark.cleanup);
  auto* chunk = static_cast<ArenaChunk*>(mark.chunk);
  if (arena.chunk != nullptr) arena.chunk->left_at = arena.next;
  ArenaChunk* const last = arena.chunk;
  const bool begins_there = chunk == nullptr;  // the mark was set before the first chunk
  if (begins_there) chunk = arena.first;
  if (chunk == nullptr) return;
  char* const start = begins_there ? chunk->begin() : mark.next;
  end_bytes(arena, start, chunk->left_at);
  for (ArenaChunk* later = chunk; later != last;) {
    later = later->next;
    end_bytes(arena, later->begin(), later->left_at);
  }
  stand_in(arena, chunk);
  arena.next = start;
  // Over malloc, each block has its own chunk, so that checkers see the block's end.
  if (takes_each_block_from_malloc()) {
    end_behind(arena, begins_there ? &arena.first : &chunk->next);
    if (begins_there) stand_in(arena, nullptr);
  }
}

void arena_reset(ArenaFront& arena) noexcept { arena_rewind(arena, {}); }

std::size_t arena_release_unused(ArenaFront& arena) noexcept {
  const std::size_t before = arena.capacity;
  if (arena.chunk != nullptr) end_behind(arena, &arena.chunk->next);
  return before - arena.capacity;
}

std::size_t arena_prewarm(ArenaFront& arena, std::size_t bytes) noexcept {
  if (takes_each_block_from_malloc()) return bytes;
  if (static_cast<std::size_t>(arena.end - arena.next) < bytes && find_kept(arena, bytes, 1) == nullptr) {
    ArenaChunk* const made = make_chunk(arena, bytes);
    if (made != nullptr && arena.chunk == nullptr) stand_in(arena, made);
  }
  std::size_t largest = 0;
  for (ArenaChunk* chunk = arena.chunk; chunk != nullptr; chunk = chunk->next) {
    char* const start = chunk == arena.chunk ? arena.next : chunk->begin();
    const auto room = static_cast<std::size_t>(chunk->end - start);
    if (room > largest) largest = room;
    if (arena.poisons) os::unpoison(start, room);
    for (std::size_t at = 0; at < room; at += kOsPageBytes) *static_cast<volatile char*>(start + at) = 0;
    if (arena.poisons) os::poison(start, room);
  }
  return largest;
}

std::size_t arena_used(const ArenaFront& arena) noexcept {
  return arena.chunk == nullptr
             ? 0
             : arena.chunk->used_before + static_cast<std::size_t>(arena.next - arena.chunk->begin());
}

bool arena_owns(const ArenaFront& arena, const void* pointer) noexcept {
  for (ArenaChunk* chunk = arena.first; chunk != nullptr; chunk = chunk->next)
    if (address_of(pointer) - address_of(chunk->begin()) < chunk->bytes()) return true;
  return false;
}

}  // namespace TARN_NAMESPACE::detail
