// Samples of the blocks of pools (thread/observation/observation.h), for the slow doors of pools.
//
// A watched thread finds none of its magazines, so that each of its
// allocations comes to a slow door, which asks note_allocated(). A sampled block's span is marked until the
// block is freed (page/spans/watched_spans.h): so the free comes to a slow door too, by any thread at any
// time, which asks note_freed() before the block can be another's.
//
// Over malloc a pool's blocks are sampled where malloc's are, not here.
#pragma once
#include <cstddef>

#include "general/pools/pool_header.h"
#include "thread/observation/observation.h"

namespace tarn::internal::watched {

/// A pool hands a block over. \pre no lock is held; the block is not shared yet. \returns whether a sample
/// falls on it.
[[gnu::noinline]] bool sample_if_due(const PoolHeader& pool, void* block, std::size_t bytes);
/// \cost two loads while nobody watches.
TARN_INLINE bool note_allocated(const PoolHeader& pool, void* block, std::size_t bytes) {
  if (is_disturbed()) [[unlikely]]
    return block != nullptr && sample_if_due(pool, block, bytes);
  return false;
}

/// A thread frees a block: it notices a switch. \pre no lock is held.
TARN_INLINE void notice_at_free() {
  if (is_disturbed()) [[unlikely]]
    observation.notice();
}
/// \pre the block is live and the caller's. Locks of ranks up to a pool's may be held, where the pool lies in
/// no caller's memory. \returns whether a sample had fallen on it.
[[gnu::noinline]] bool forget_sample_of(void* block);
/// \cost a load before the first switch.
TARN_INLINE bool note_freed(void* block) {
  if (observation.has_begun()) [[unlikely]]
    return forget_sample_of(block);
  return false;
}
/// The same of several, of which some may be nullptr.
TARN_INLINE void note_freed(void* const* blocks, std::size_t count) {
  if (observation.has_begun()) [[unlikely]]
    for (std::size_t i = 0; i < count; ++i)
      if (blocks[i] != nullptr) forget_sample_of(blocks[i]);
}
/// The same of blocks side by side. \returns on how many.
TARN_INLINE std::size_t note_run_freed(void* blocks, std::size_t count, std::size_t stride) {
  std::size_t samples = 0;
  if (observation.has_begun()) [[unlikely]]
    for (std::size_t i = 0; i < count; ++i)
      samples += forget_sample_of(static_cast<char*>(blocks) + i * stride) ? 1 : 0;
  return samples;
}

/// The same of objects of a handle pool. Once nobody watches, their ends are hits again: so their samples
/// last as long as the switch. \pre no lock is held.
[[gnu::noinline]] void sample_object_if_due(const PoolHeader& pool, void* object, std::size_t bytes);
TARN_INLINE void note_object_made(const PoolHeader& pool, void* object, std::size_t bytes) {
  if (is_disturbed()) [[unlikely]]
    sample_object_if_due(pool, object, bytes);
}
TARN_INLINE void note_object_ended(void* object) {
  if (is_disturbed()) [[unlikely]]
    if (observation.watches_this_thread()) observation.note_freed(object);
}

/// All blocks of a span end. \param step distance of places where blocks may begin, bytes.
[[gnu::noinline]] void forget_samples_in(Span& span, std::size_t bytes, std::size_t step);
TARN_INLINE void note_span_ends(Span& span, std::size_t bytes, std::size_t step) {
  if (span.has_samples()) [[unlikely]]
    forget_samples_in(span, bytes, step);
}

}  // namespace tarn::internal::watched
