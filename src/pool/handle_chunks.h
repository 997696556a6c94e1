// The chunks of a handle pool: their records, and memory for their objects.
//
// A chunk without objects may lose its memory; its record stays, with the generations that old handles are
// compared with, and the chunk gets memory again before another is made.
//
// Threads: the pool's mutex is held, but for what a process of one thread does, and for the atomic members.
#pragma once
#include <cstddef>
#include <cstdint>

#include "page/returned_pages.h"
#include "pool/handle_pool_state.h"

namespace TARN_NAMESPACE::detail {

inline std::uint32_t slots_per_chunk(const HandlePoolState& state) {
  return std::uint32_t{1} << state.type.shift;
}
inline HandleChunk& chunk_at(const HandlePoolState& state, std::uint32_t index) {
  return *state.front->chunks.load(std::memory_order_acquire)[index];
}
inline HandleChunk& chunk_of_slot(const HandlePoolState& state, std::uint32_t slot) {
  return chunk_at(state, slot >> state.type.shift);
}
inline std::uint32_t index_of_slot(const HandlePoolState& state, std::uint32_t slot) {
  return slot & (slots_per_chunk(state) - 1);
}

inline bool has_object(HandleChunk& chunk, std::uint32_t index) {
  return (chunk.generations()[index].load(std::memory_order_acquire) & 1) != 0;
}

/// \returns the handle that the next object in a free slot gets.
inline std::uint64_t next_handle(const HandlePoolState& state, std::uint32_t slot) {
  const std::atomic<std::uint32_t>& generation =
      chunk_of_slot(state, slot).generations()[index_of_slot(state, slot)];
  return handle_word(slot, generation.load(std::memory_order_relaxed) + 1);
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

/// \returns how many slots of a chunk may be taken.
std::uint32_t usable_slots(const HandlePoolState& state);

/// \cost a step per slot.
std::uint32_t live_in(HandleChunk& chunk);
std::size_t live_count(const HandlePoolState& state);

/// Puts free slots on the stack: those of a chunk that has no memory, else of a new chunk; the lowest on top.
/// \returns false when memory is refused or there are as many slots as may be.
bool grow_handle_pool(HandlePoolState& state, internal::ReturnedPages& returned);

/// Gives a chunk's memory back. \pre none of its slots is live or free.
void end_memory_of_chunk(HandlePoolState& state, HandleChunk& chunk, internal::ReturnedPages& returned);

/// Backs the memory of all chunks.
void populate_chunks(const HandlePoolState& state);

/// At the pool's end.
void end_stack(HandlePoolState& state, internal::ReturnedPages& returned);
void end_chunk_records(HandlePoolState& state, internal::ReturnedPages& returned);

}  // namespace TARN_NAMESPACE::detail
