// The entry points for runs of FixedPool and SharedFixedPool.
//
// The fast paths take the run that was freed last of its length, and free a run and note it (freed_runs.h),
// where nothing else is to be done: the pool is the caller's alone, no single block that was freed is at
// hand, there is no new peak, and no block lies in the word that the walk stands on, whose ones count as
// handed out. They look at all of that before they change anything. All else is for the back end, behind the
// slow doors; it pauses the walk, so that runs meet its word no more until single blocks are asked for.
//
// \why nothing here depends on whether a word gets its first free block or loses its last one: that is
// random, and a mispredicted branch costs as much as a third of a replacement. A chunk's summary is told of
// neither, as long as it has the words' bits.
#include "general/memory_limits.h"
#include "pool/thread_magazines.h"
#include "pool/watched_blocks.h"

namespace TARN_NAMESPACE::detail {

using namespace internal;

namespace {

// Members of notes are read and written one by one: a compiler that joins them in a vector register delays
// what reads them next.
template <typename T>
TARN_INLINE T load(T* member) {
  return __atomic_load_n(member, __ATOMIC_RELAXED);
}
template <typename T>
TARN_INLINE void store(T* member, T value) {
  __atomic_store_n(member, value, __ATOMIC_RELAXED);
}

// Whether the calling thread may use the pool without a lock, and magazines have none of its blocks.
TARN_INLINE bool is_callers(const FixedPoolFront& front) { return front.mutex == nullptr || is_alone(front); }

// A run for which blocks of magazines are needed; nullptr also when there are none.
void* allocate_run_of_all(FixedPoolFront& front, std::size_t count) {
  const WholePoolGuard guard(front);
  ThreadMagazines* const magazines = magazines_of(*front.state);
  if (magazines == nullptr) return nullptr;
  magazines->empty();
  return front.state->back_end->allocate_run(*front.state, count);
}

[[gnu::noinline]] void* allocate_run_slow(FixedPoolFront& front, std::size_t count) {
  FixedPoolState& state = *front.state;
  if (count == 1 && !is_callers(front)) return fixed_pool_allocate_shared(front);
  if (count == 0 || count > state.blocks_per_chunk) return nullptr;
  const auto take = [&]() -> void* {
    {
      const ProgramGuard guard(front.mutex);
      if (void* const blocks = state.back_end->allocate_run(state, count)) return blocks;
    }
    return allocate_run_of_all(front, count);
  };
  void* const blocks = take_within_limits(take);
  if (blocks == nullptr) state.note_refusal();
  watched::note_allocated(state, blocks, count * front.stride);
  adjust_to_watch(state);
  return blocks;
}

[[gnu::noinline]] void deallocate_run_slow(FixedPoolFront& front, void* blocks, std::size_t count) {
  FixedPoolState& state = *front.state;
  // Where no runs are freed, single blocks stay at hand for single allocations.
  if (count == 1 && (!is_callers(front) || state.freed_runs == nullptr))
    return fixed_pool_deallocate_shared(front, blocks);
  watched::heed_at_free();
  watched::note_run_freed(blocks, count, front.stride);
  adjust_to_watch(state);
  const ProgramGuard guard(front.mutex);
  if (count == 0) return;
  state.back_end->deallocate_run(state, blocks, count);
  if (ThreadMagazines* const magazines = magazines_of(state)) magazines->note_freed_bits();
}

// Whether runs of a length may be taken and freed here. Of a front that is not the caller's, nothing is read.
TARN_INLINE bool is_for_fast_paths(const FixedPoolFront& front, std::size_t count) {
  return count <= FreedRunTops::kLongest && is_callers(front) && front.freed_top == front.freed;
}

// Whether a run may have blocks in the word that the walk stands on. These count as handed out, live or not.
TARN_INLINE bool may_lie_in_walk(const FixedPoolFront& front, const std::uint64_t* low) {
  return address_of(front.word) - address_of(low) <= sizeof(*low);
}

// As find_in_span, for `count` blocks.
TARN_INLINE bool find_run_in_span(const FixedPoolFront& front, const SpanHead& span, const void* blocks,
                                  std::size_t count, std::uint64_t* found) {
  const auto offset = static_cast<std::uint64_t>(static_cast<const char*>(blocks) - span.start);
  const auto product = static_cast<unsigned __int128>(offset) * front.reciprocal;
  *found = static_cast<std::uint64_t>(product >> 64);
  return static_cast<std::uint64_t>(product) < front.reciprocal && *found + count <= span.pool_blocks;
}

}  // namespace

void* fixed_pool_allocate_run(FixedPoolFront& front, std::size_t count) noexcept {
  if (!is_for_fast_paths(front, count) || front.room_below_peak < count) [[unlikely]]
    return allocate_run_slow(front, count);
  FreedRun*& newest = front.freed_runs->newest[count];
  FreedRun* const run = newest;
  std::uint64_t* const low = load(&run->bits.low);
  const std::uint64_t low_mask = load(&run->bits.low_mask), high_mask = load(&run->bits.high_mask);
  // Where all of a mask's bits are ones, they are zeros now.
  const std::uint64_t low_rest = bitmap::load(low) ^ low_mask, high_rest = bitmap::load(low + 1) ^ high_mask;
  if (((low_rest & low_mask) | (high_rest & high_mask)) != 0 || may_lie_in_walk(front, low)) [[unlikely]]
    return allocate_run_slow(front, count);
  newest = run - 1;
  front.room_below_peak -= count;
  bitmap::store(low, low_rest);
  bitmap::store(low + 1, high_rest);
  return load(&run->blocks);
}

void fixed_pool_deallocate_run(FixedPoolFront& front, void* blocks, std::size_t count) noexcept {
  if (!is_for_fast_paths(front, count)) [[unlikely]]
    return deallocate_run_slow(front, blocks, count);
  FreedRun*& newest = front.freed_runs->newest[count];
  FreedRun* const run = newest + 1;
  const SpanHead* const span = front.spans.find(blocks);
  std::uint64_t index = 0;
  if (run > front.freed_runs->last[count] || span == nullptr ||
      span->pool_without(SpanHead::kSettled) != front.state ||
      !find_run_in_span(front, *span, blocks, count, &index)) [[unlikely]]
    return deallocate_run_slow(front, blocks, count);
  const RunBits bits(span->free_bits, index, count);
  const std::uint64_t low = bitmap::load(bits.low), high = bitmap::load(bits.high());
  // A bit that is set already is an error.
  if (((low & bits.low_mask) | (high & bits.high_mask)) != 0 || may_lie_in_walk(front, bits.low)) [[unlikely]]
    return deallocate_run_slow(front, blocks, count);
  newest = run;
  store(&run->bits.low, bits.low);
  store(&run->bits.low_mask, bits.low_mask);
  store(&run->bits.high_mask, bits.high_mask);
  store(&run->blocks, blocks);
  front.room_below_peak += count;
  bitmap::store(bits.low, low | bits.low_mask);
  bitmap::store(bits.high(), high | bits.high_mask);
  // A chunk that searches pass by has a mark in its span.
  if (span->marked_pool() != front.state || chunk_of(*span).may_lack_words) [[unlikely]]
    note_freed_words(*front.state, *run);
}

}  // namespace TARN_NAMESPACE::detail
