// The invariant of a fixed pool over chunks (fixed_pool_state.h), walked.
#include <bit>

#include "os/fatal.h"
#include "pool/thread_magazines.h"

namespace tarn::internal {
namespace {

using detail::FixedPoolState;

// Checks what the front knows of a word. \returns whether it is to report the word's ones.
bool is_unreported(const detail::FixedPoolFront& front, const std::uint64_t* word) {
  std::uint64_t bits = *word;
  for (const detail::FreedBlock* freed = front.freed_top; freed != front.freed; --freed) {
    if (freed[-1].word != word) continue;
    const std::uint64_t before = freed[-1].word_before;
    TARN_CHECK((bits & before) == before && std::has_single_bit(bits ^ before));
    bits = before;
  }
  return bits == 0;
}

std::size_t freed_elsewhere(const detail::FixedPoolFront& front) {
  std::size_t count = 0;
  for (const detail::FreedBlock* freed = front.freed; freed != front.freed_top; ++freed)
    count += freed->word != front.word ? 1 : 0;
  return count;
}

void validate_freed_runs(const FixedPoolState& state) {
  if (state.freed_runs == nullptr) return;
  state.freed_runs->for_each([&](const FreedRun& note, std::size_t length) {
    const BlockRun run = run_of(note);
    TARN_CHECK(run.chunk->span->unmarked_pool() == &state && run.chunk->block(run.first) == note.blocks);
    TARN_CHECK(number_of(run.first) + length <= run.chunk->block_count);
    const RunBits bits(run.chunk->words(), number_of(run.first), length);
    TARN_CHECK(bits.low == note.bits.low && bits.low_mask == note.bits.low_mask &&
               bits.high_mask == note.bits.high_mask);
  });
}

}  // namespace

void validate_chunks(FixedPoolState& state) {
  TARN_CHECK(state.front->freed <= state.front->freed_top &&
             state.front->freed_top <= state.front->freed_end);
  std::size_t blocks = 0, bytes = 0, ones = 0;
  for (std::uint32_t slot = 0; slot < state.ring.count(); ++slot) {
    PoolChunk& chunk = state.ring[slot];
    ones += chunk.free_count();
    chunk.validate([&](const std::uint64_t* word) { return is_unreported(*state.front, word); });
    TARN_CHECK(chunk.span->unmarked_pool() == &state && chunk.span->stride == state.front->stride);
    blocks += chunk.block_count;
    bytes += chunk.span->bytes();
  }
  TARN_CHECK(state.capacity == blocks && state.capacity <= state.largest_count);
  TARN_CHECK(state.mapped_bytes == bytes);
  TARN_CHECK(state.handed_out() == blocks - state.ring.free_count() + count_ones(*state.front->word) +
                                       freed_elsewhere(*state.front));
  TARN_CHECK(state.front->room_below_peak <= state.peak);
  if (magazines_of(state) != nullptr) {
    magazines_of(state)->validate();
  } else if (state.counts_taken()) {
    const auto freed = static_cast<std::size_t>(state.front->freed_top - state.front->freed);
    TARN_CHECK(state.taken->count == state.capacity - ones + freed);
  }
  state.ring.validate();
  state.walk.validate();
  state.runs.validate(state.ring);
  validate_freed_runs(state);
}

}  // namespace tarn::internal
