#pragma once
#include "../../include/tarn/arena.h"
#include "tarn/heap.h"

namespace TARN_NAMESPACE::detail {

/// A chunk, before its bytes; one of the caller's buffer is not freed.
struct alignas(16) ArenaChunk {
  ArenaChunk* before;
  char* end;
  bool is_buffer;

  char* start() { return reinterpret_cast<char*>(this + 1); }
};

inline void use_chunk(ArenaFront& arena, ArenaChunk* chunk) {
  arena.chunk = chunk;
  arena.next = chunk != nullptr ? chunk->start() : nullptr;
  arena.end = chunk != nullptr ? chunk->end : nullptr;
}
inline bool add_chunk(ArenaFront& arena, void* memory, std::size_t bytes, bool is_buffer) {
  if (memory == nullptr) return false;
  auto* const chunk = ::new (memory) ArenaChunk{arena.chunk, static_cast<char*>(memory) + bytes, is_buffer};
  if (arena.first == nullptr) arena.first = chunk;
  arena.capacity += bytes;
  use_chunk(arena, chunk);
  return true;
}
inline void make_arena(ArenaFront& arena, const ArenaOptions& options, bool) noexcept {
  arena = {};
  arena.options = options;
  if (options.name.is_empty()) arena.options.name = "arena";
  const auto start = reinterpret_cast<std::uintptr_t>(options.buffer);
  const std::size_t skipped = (0 - start) % alignof(ArenaChunk);
  if (options.buffer != nullptr && options.buffer_bytes > skipped + sizeof(ArenaChunk))
    add_chunk(arena, static_cast<char*>(options.buffer) + skipped, options.buffer_bytes - skipped, true);
}
inline std::size_t arena_used(const ArenaFront& arena) noexcept {
  if (arena.chunk == nullptr) return 0;
  auto used = static_cast<std::size_t>(arena.next - arena.chunk->start());
  for (ArenaChunk* chunk = arena.chunk->before; chunk != nullptr; chunk = chunk->before)
    used += static_cast<std::size_t>(chunk->end - chunk->start());
  return used;
}
inline bool grow_arena(ArenaFront& arena, std::size_t least) noexcept {
  const ArenaOptions& options = arena.options;
  const bool is_first = arena.first == nullptr;
  if ((!is_first || options.buffer != nullptr) && !options.may_grow) return false;
  const std::size_t last = is_first ? 0 : static_cast<std::size_t>(arena.chunk->end - arena.chunk->start());
  const std::size_t wanted = is_first                       ? options.initial_bytes
                             : options.increment_bytes != 0 ? options.increment_bytes
                                                            : std::min(2 * last, std::size_t{1} << 20);
  const std::size_t bytes = std::max(wanted, least) + sizeof(ArenaChunk);
  if (bytes < least || bytes > options.mapped_limit - std::min(options.mapped_limit, arena.capacity))
    return false;
  if (!is_first) ++arena.overflows;
  return add_chunk(arena,
                   options.heap != nullptr ? options.heap->allocate(bytes) : make_block(nullptr, bytes, 16),
                   bytes, false);
}
inline void* arena_allocate_slow(ArenaFront& arena, std::size_t size, std::size_t alignment) noexcept {
  if (size > PTRDIFF_MAX - alignment || !grow_arena(arena, size + alignment)) return refuse(ENOMEM);
  const auto start = reinterpret_cast<std::uintptr_t>(arena.next);
  char* const block = arena.next + (0 - start) % alignment;
  arena.next = block + size;
  return block;
}
inline void end_chunk(ArenaFront& arena) noexcept {
  ArenaChunk* const ended = arena.chunk;
  use_chunk(arena, ended->before);
  if (arena.options.sensitive) wipe(ended->start(), ended->end);
  if (arena.chunk == nullptr) arena.first = nullptr;
  arena.capacity -= static_cast<std::size_t>(ended->end - reinterpret_cast<char*>(ended));
  if (!ended->is_buffer) deallocate_slow(ended);
}
/// Keeps the first chunk alone.
inline void arena_rewind(ArenaFront& arena, const ArenaMark& mark) noexcept {
  arena.high_water = std::max(arena.high_water, arena_used(arena));
  while (arena.cleanup != mark.cleanup) {
    const ArenaCleanup ended = *arena.cleanup;
    arena.cleanup = ended.earlier;
    ended.run(ended.context);
  }
  while (arena.chunk != mark.chunk && arena.chunk != arena.first) end_chunk(arena);
  if (arena.chunk == nullptr) return;
  arena.next = arena.chunk == mark.chunk ? mark.next : arena.chunk->start();
  arena.end = arena.chunk->end;
  if (arena.options.sensitive) wipe(arena.next, arena.end);
}
inline void end_arena(ArenaFront& arena) noexcept {
  arena_rewind(arena, {});
  while (arena.chunk != nullptr) end_chunk(arena);
}
inline std::size_t arena_release_unused(ArenaFront&) noexcept { return 0; }
inline std::size_t arena_prewarm(ArenaFront& arena, std::size_t bytes) noexcept {
  if (static_cast<std::size_t>(arena.end - arena.next) >= bytes) return bytes;
  return grow_arena(arena, bytes) ? bytes : 0;
}
inline bool arena_owns(const ArenaFront& arena, const void* pointer) noexcept {
  for (ArenaChunk* chunk = arena.chunk; chunk != nullptr; chunk = chunk->before)
    if (pointer >= chunk->start() && pointer < chunk->end) return true;
  return false;
}

}  // namespace TARN_NAMESPACE::detail
