// Heaps of the library's own, and the head of each chunk that they serve to arenas.
#pragma once
#include <cstddef>
#include <cstdint>

#include "tarn/arena.h"
#include "tarn/heap.h"

namespace TARN_NAMESPACE::detail {

struct alignas(16) ArenaChunk {
  ArenaChunk* next;
  char* end;
  char* left_at;  // the end of the used bytes, after the arena has moved on
  std::size_t used_before;
  bool is_callers;
  std::uint64_t seal;

  std::uint64_t right_seal() const {
    const std::uint64_t of_use = seal_of(this, word_of(left_at), used_before, is_callers ? 1 : 0);
    return seal_of(this, word_of(next), word_of(end), of_use);
  }
  char* begin() { return reinterpret_cast<char*>(this + 1); }
  const char* begin() const { return reinterpret_cast<const char*>(this + 1); }
  std::size_t bytes() const { return static_cast<std::size_t>(end - begin()); }
};

}  // namespace TARN_NAMESPACE::detail

namespace tarn::internal {

/// \returns the heap for the chunks of all arenas without another upstream; nullptr when memory is refused.
detail::HeapState* arena_heap();
/// The same for the sensitive ones.
detail::HeapState* sensitive_arena_heap();

}  // namespace tarn::internal
