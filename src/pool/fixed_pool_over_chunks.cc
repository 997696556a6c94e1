// A fixed pool over its own chunks.
#include <algorithm>
#include <new>

#include "base/units.h"
#include "os/checker.h"
#include "os/memory.h"
#include "page/metadata.h"
#include "page/page_cache.h"
#include "page/page_map.h"
#include "pool/thread_magazines.h"
#include "pool/watched_blocks.h"
#include "pool/wipe_block.h"

namespace tarn::internal {
namespace {

using detail::FixedPoolState;

constexpr std::size_t kDenseBytes = 8 * 1024 * 1024;  // pools from this size on fill their huge pages

// If all chunks' blocks would start on the same cache sets, each chunk begins a line later than the last.
std::size_t next_colour(const FixedPoolState& state) {
  const std::size_t stride = state.front->stride;
  if (stride % PoolChunk::kColouredStride != 0 || state.alignment > kCacheLineBytes) return 0;
  return state.chunks_made % (stride / kCacheLineBytes) * kCacheLineBytes;
}

// Makes a chunk that is in the pool's counts, but not in its ring. \param made so many others are not either
PoolChunk* make_next_chunk(FixedPoolState& state, std::uint32_t made) {
  const std::size_t left = state.largest_count - state.capacity;
  const std::size_t count = left < state.blocks_per_chunk ? left : state.blocks_per_chunk;
  if (count == 0) return nullptr;
  {
    os::LockGuard guard(state.structure);
    if (!state.ring.make_room(made + 1)) return nullptr;
  }
  const bool is_dense = state.mapped_bytes >= kDenseBytes && page_cache.uses_huge_pages();
  PoolChunk* const chunk =
      make_chunk({&state, state.front->stride, static_cast<std::uint32_t>(count), next_colour(state),
                  density_of(state, is_dense ? Density::kDense : Density::kSparse), state.poisons,
                  state.may_have_magazines, state.buffers != nullptr ? state.front : nullptr});
  if (chunk == nullptr) return nullptr;
  os::LockGuard guard(state.structure);
  state.capacity += count;
  state.mapped_bytes += chunk->span->bytes();
  ++state.chunks_made;
  return chunk;
}

PoolChunk* grow(FixedPoolState& state) {
  PoolChunk* const chunk = make_next_chunk(state, 0);
  if (chunk == nullptr) return nullptr;
  {
    os::LockGuard guard(state.structure);
    state.ring.insert(*chunk);
  }
  state.runs.add(*chunk);
  state.front->spans = page_map.first_table();
  return chunk;
}

// Makes chunks with `blocks` blocks in all, or as many as can be had. \returns how many blocks they have.
std::size_t grow_by(FixedPoolState& state, std::size_t blocks) {
  PoolChunk* first = nullptr;
  std::uint32_t count = 0;
  std::size_t made = 0;
  for (; made < blocks; ++count) {
    PoolChunk* const chunk = make_next_chunk(state, count);
    if (chunk == nullptr) break;
    chunk->next = first;
    first = chunk;
    made += chunk->block_count;
  }
  if (first == nullptr) return 0;
  {
    os::LockGuard guard(state.structure);
    state.ring.insert_all(first);
  }
  for (PoolChunk* chunk = first; chunk != nullptr;) {
    PoolChunk& added = *chunk;
    chunk = chunk->next;
    state.runs.add(added);
  }
  state.front->spans = page_map.first_table();
  return made;
}

const Span* find_span(const FixedPoolState& state, const void* pointer) {
  const Span* const span = page_map.find(pointer);
  return span != nullptr && span->unmarked_pool() == &state ? span : nullptr;
}

// The walk has come to stand on a word: its ones are handed out next, without a look at any count.
void note_standing(FixedPoolState& state) { state.note_handed_out(count_ones(*state.front->word)); }

bool advance(FixedPoolState& state) {
  do {
    if (!state.walk.advance()) return false;
  } while (*state.front->word == 0);  // runs may have emptied it
  note_standing(state);
  return true;
}

// The inlined paths have the word that the walk stands on no longer.
void pause_walk(FixedPoolState& state) {
  if (state.walk.is_paused()) return;
  state.note_no_longer_handed_out(count_ones(*state.front->word));
  state.walk.pause();
}

void stand_on_new(FixedPoolState& state, PoolChunk& chunk) {
  state.walk.stand_on(chunk, 0);
  note_standing(state);
}

/// Counts the blocks of a chunk that a call frees by their bits. Those of the word that the walk
/// stands on are handed out anyway.
class BitCount {
 public:
  BitCount(FixedPoolState& state, const PoolChunk& chunk)
      : state_(state), is_in_walk_(state.walk.chunk() == &chunk), ones_before_(ones()) {}
  /// Call once `count` bits have become ones.
  void note_freed(std::size_t count) const {
    state_.note_no_longer_handed_out(count - (ones() - ones_before_));
  }

 private:
  unsigned ones() const { return is_in_walk_ ? count_ones(*state_.front->word) : 0; }

  FixedPoolState& state_;
  bool is_in_walk_;
  unsigned ones_before_;
};

// Tells the chunks what the front knows of the words of its oldest blocks, and forgets these.
void report_oldest(FixedPoolState& state, std::size_t count) {
  state.note_given_back(count);
  detail::FixedPoolFront& front = *state.front;
  const std::uint64_t* const standing_on = front.word;
  const detail::FreedBlock* const end = front.freed + count;
  std::size_t elsewhere = 0;
  for (const detail::FreedBlock* freed = front.freed; freed != end; ++freed) {
    elsewhere += freed->word != standing_on ? 1 : 0;
    if (freed->word_before != 0) continue;
    PoolChunk& chunk = chunk_of(*page_map.find(freed->block));
    chunk.note_word(freed->word);
    state.ring.note_usable(chunk);
  }
  state.note_no_longer_handed_out(elsewhere);
  std::copy(front.freed + count, front.freed_top, front.freed);
  front.freed_top -= count;
}

void report_freed(FixedPoolState& state) {
  const auto count = static_cast<std::size_t>(state.front->freed_top - state.front->freed);
  if (count != 0) report_oldest(state, count);
}

// \pre the front has no freed blocks.
void shrink(FixedPoolState& state, PoolChunk& chunk, ReturnedPages& returned) {
  if (state.walk.chunk() == &chunk) {
    state.note_no_longer_handed_out(count_ones(*state.front->word));
    state.walk.stand_nowhere();
  }
  state.runs.remove(chunk);
  {
    os::LockGuard guard(state.structure);
    state.ring.remove(chunk);
    state.capacity -= chunk.block_count;
    state.mapped_bytes -= chunk.span->bytes();
  }
  end_chunk(chunk, state.poisons, returned);
}

void* allocate(FixedPoolState& state) {
  if (!advance(state)) {
    PoolChunk* const chunk = grow(state);
    if (chunk == nullptr) return nullptr;
    stand_on_new(state, *chunk);
  }
  return allocate_inside_door(state);
}

// The blocks of a run begin, or end, to be live. \pre the pool has magazines.
void begin_lives(BlockRun run, std::size_t count) {
  for (std::uint8_t* byte = live_bytes(*run.chunk->span) + number_of(run.first); count-- > 0; ++byte)
    __atomic_store_n(byte, 1, __ATOMIC_RELAXED);
}

void end_lives(const FixedPoolState& state, BlockRun run, std::size_t count) {
  std::uint8_t* const bytes = live_bytes(*run.chunk->span);
  for (BlockIndex i = run.first; count-- > 0; ++i)
    if (__atomic_exchange_n(bytes + number_of(i), 0, __ATOMIC_RELAXED) == 0)
      state.stop("double free", run.chunk->block(i));
}

// The runs of that length that were freed as one, where any are noted; else nullptr.
FreedRuns* freed_runs_of(const FixedPoolState& state, std::size_t count) {
  return count <= FreedRuns::kLongest ? state.freed_runs : nullptr;
}

// \returns a run that was freed as one and is still free.
BlockRun find_noted(const FixedPoolState& state, std::size_t count) {
  FreedRuns* const freed = freed_runs_of(state, count);
  const FreedRun* const note = freed != nullptr ? freed->take_note(count) : nullptr;
  return note != nullptr ? run_of(*note) : BlockRun{};
}

// A search begins where runs of that length were. \why holes of other lengths stay whole for their like.
BlockRun find(FixedPoolState& state, std::size_t count) {
  const auto wanted = static_cast<std::uint32_t>(count);
  if (const FreedRuns* const freed = freed_runs_of(state, count))
    if (const FreedRun* const place = freed->place_of(count)) {
      const BlockRun run = run_of(*place);
      state.runs.begin_at(*run.chunk, run.first);
    }
  const BlockRun run = state.runs.find(wanted, state.walk.chunk());
  if (run.chunk != nullptr) return run;
  PoolChunk* const chunk = grow(state);
  return chunk != nullptr && chunk->block_count >= wanted ? BlockRun{chunk, BlockIndex{0}} : BlockRun{};
}

// \pre the walk has paused.
void take(FixedPoolState& state, BlockRun run, std::size_t count) {
  run.chunk->take(run.first, static_cast<std::uint32_t>(count));
  state.note_handed_out(count);
}

// \pre a count of 1 only in pools without magazines.
void* allocate_run(FixedPoolState& state, std::size_t count) {
  const detail::FixedPoolFront& front = *state.front;
  if (count == 1 && front.freed_top != front.freed) return allocate_inside_door(state);
  report_freed(state);
  BlockRun run = find_noted(state, count);
  if (run.chunk == nullptr && count == 1) return allocate_inside_door(state);
  pause_walk(state);
  if (run.chunk == nullptr) run = find(state, count);
  if (run.chunk == nullptr) return nullptr;
  take(state, run, count);
  if (magazines_of(state) != nullptr) begin_lives(run, count);
  return run.chunk->block(run.first);
}

// \returns the index of the first of `count` blocks in its chunk.
BlockIndex index_of_block(const FixedPoolState& state, const Span& span, const void* block,
                          std::size_t count) {
  const std::size_t offset = static_cast<std::size_t>(static_cast<const char*>(block) - span.start);
  const std::size_t index = offset / state.front->stride;
  if (address_of(block) < address_of(span.start) || index * state.front->stride != offset)
    state.stop("free of a pointer into a block", block);
  if (index >= span.pool_blocks || count > span.pool_blocks - index)
    state.stop("free of a pointer that is no block of the pool", block);
  return static_cast<BlockIndex>(index);
}

void take_back(FixedPoolState& state, BlockRun run, std::size_t count) {
  PoolChunk& chunk = *run.chunk;
  const BitCount bits(state, chunk);
  const BlockIndex freed_twice = chunk.free(run.first, static_cast<std::uint32_t>(count));
  if (freed_twice != chunk.end()) state.stop("double free", chunk.block(freed_twice));
  bits.note_freed(count);
  state.ring.note_usable(chunk);
  state.runs.unsettle(chunk);
}

void deallocate(FixedPoolState& state, void* block) {
  const detail::FixedPoolFront& front = *state.front;
  if (const auto count = static_cast<std::size_t>(front.freed_top - front.freed);
      count != 0 && front.freed_top == front.freed_end) {
    report_oldest(state, count / 2);
    return detail::fixed_pool_deallocate(*state.front, block);
  }
  report_freed(state);
  take_back(state, find_blocks(state, block, 1), 1);
  state.note_given_back(1);
}

// Where free blocks are poisoned, others are handed out before; where they are wiped, no call is a hit.
void note_freed_run(FixedPoolState& state, BlockRun run, std::size_t count, void* blocks) {
  state.runs.begin_at(*run.chunk, run.first);
  if (state.poisons || state.is_sensitive || count > FreedRuns::kLongest) return;
  if (state.freed_runs == nullptr) {
    void* const record = metadata.allocate(sizeof(FreedRuns));
    if (record == nullptr) return;
    state.freed_runs = new (record) FreedRuns;
    if (!state.has_nothing_at_hand) state.front->freed_runs = &state.freed_runs->tops();
  }
  state.freed_runs->note({RunBits(run.chunk->words(), number_of(run.first), count), blocks}, count);
}

void deallocate_run(FixedPoolState& state, void* blocks, std::size_t count) {
  report_freed(state);
  pause_walk(state);
  const BlockRun run = find_blocks(state, blocks, count);
  if (magazines_of(state) != nullptr) end_lives(state, run, count);
  take_back(state, run, count);
  note_freed_run(state, run, count, blocks);
}

void forget_freed_runs(FixedPoolState& state) {
  if (state.freed_runs != nullptr) state.freed_runs->forget();
}

// Frees the first blocks as bits, as long as they lie in one chunk: a word is stored once for those in a row
// that lie in it. \returns how many.
std::size_t free_in_chunk(FixedPoolState& state, PoolChunk& chunk, void* const* blocks, std::size_t count) {
  const char* const start = chunk.span->start;
  const std::uint64_t reciprocal = state.front->reciprocal;
  const std::size_t stride = state.front->stride;
  const char* const end = start + chunk.block_count * stride;
  const BitCount counted(state, chunk);
  std::uint64_t* word = nullptr;
  std::uint64_t bits = 0, bit = 0;
  std::size_t freed = 0;
  for (; freed < count; ++freed) {
    // Mostly the neighbour of the one before.
    if (freed != 0 && static_cast<char*>(blocks[freed]) == static_cast<char*>(blocks[freed - 1]) + stride &&
        (bit << 1 & ~bits) != 0 && blocks[freed] < end) {
      bit <<= 1;
      bits |= bit;
      continue;
    }
    // As in fixed_pool_deallocate.
    const auto offset = static_cast<std::uint64_t>(static_cast<const char*>(blocks[freed]) - start);
    const auto product = static_cast<unsigned __int128>(offset) * reciprocal;
    const auto index = static_cast<std::uint64_t>(product >> 64);
    if (static_cast<std::uint64_t>(product) >= reciprocal || index >= chunk.block_count) break;
    if (std::uint64_t* const next = chunk.words() + index / bitmap::kWordBits; next != word) {
      if (word != nullptr) bitmap::store(word, bits);
      word = next;
      bits = *word;
      chunk.note_word(word);
    }
    bit = bitmap::bit(index);
    if ((bits & bit) != 0) [[unlikely]]
      state.stop("double free", blocks[freed]);
    bits |= bit;
  }
  if (word != nullptr) bitmap::store(word, bits);
  counted.note_freed(freed);
  state.ring.note_usable(chunk);
  state.runs.unsettle(chunk);
  state.note_given_back(freed);
  return freed;
}

void deallocate_batch(FixedPoolState& state, void* const* blocks, std::size_t count) {
  report_freed(state);
  for (std::size_t i = 0; i < count;) {
    if (blocks[i] == nullptr) {
      ++i;
      continue;
    }
    PoolChunk& chunk = *find_blocks(state, blocks[i], 1).chunk;
    i += free_in_chunk(state, chunk, blocks + i, count - i);
  }
}

bool owns(const FixedPoolState& state, const void* pointer) { return find_span(state, pointer) != nullptr; }

std::size_t reserve(FixedPoolState& state, std::size_t count, bool populates) {
  std::size_t usable = state.ring.free_count();
  if (usable < count) usable += grow_by(state, count - usable);
  for (std::uint32_t slot = 0; populates && slot < state.ring.count(); ++slot) {
    const Span& span = *state.ring[slot].span;
    os::populate(span.first_page(), span.bytes());
  }
  return usable;
}

std::size_t release_unused(FixedPoolState& state, ReturnedPages& returned) {
  const std::size_t before = state.mapped_bytes;
  report_freed(state);
  forget_freed_runs(state);
  for (std::uint32_t slot = state.ring.count(); slot-- > 0;) {
    PoolChunk& chunk = state.ring[slot];
    if (chunk.free_count() == chunk.block_count) shrink(state, chunk, returned);
  }
  return before - state.mapped_bytes;
}

void clear(FixedPoolState& state) {
  state.front->freed_top = state.front->freed;
  forget_freed_runs(state);
  for (std::uint32_t slot = 0; slot < state.ring.count(); ++slot) {
    PoolChunk& chunk = state.ring[slot];
    watched::note_span_ends(*chunk.span, chunk.span->bytes(), state.front->stride);
    state.runs.unsettle(chunk);
    chunk.free_all();
    if (magazines_of(state) != nullptr) chunk.write_live_bytes();
    state.ring.note_usable(chunk);
    if (state.poisons) os::poison(chunk.span->first_page(), chunk.span->bytes());
  }
  state.note_no_longer_handed_out(state.handed_out());
  state.walk.stand_nowhere();
}

void end(FixedPoolState& state, ReturnedPages& returned) {
  state.front->freed_top = state.front->freed;
  while (state.ring.count() != 0) shrink(state, state.ring[state.ring.count() - 1], returned);
  state.ring.end();
  if (state.freed_runs == nullptr) return;
  state.freed_runs->end();
  metadata.free(state.freed_runs, sizeof(FreedRuns));
}

void visit_live(FixedPoolState& state, const BlockVisitor& visit) {
  for (std::uint32_t slot = 0; slot < state.ring.count(); ++slot) {
    PoolChunk& chunk = state.ring[slot];
    for (BlockIndex i{0}; i != chunk.end(); ++i)
      if (magazines_of(state) != nullptr ? chunk.is_live(i) : !bitmap::test(chunk.words(), i))
        visit(chunk.block(i));
  }
}

void* first_of_malloc(const FixedPoolState&) { return nullptr; }

}  // namespace

BlockRun run_of(const FreedRun& note) {
  PoolChunk& chunk = chunk_of(*page_map.find(note.blocks));
  const auto word = static_cast<std::uint32_t>(note.bits.low - chunk.words());
  return {&chunk, bitmap::index_of_bit(word, std::countr_zero(note.bits.low_mask))};
}

void note_freed_words(FixedPoolState& state, const FreedRun& run) {
  PoolChunk& chunk = chunk_of(*page_map.find(run.blocks));
  chunk.note_word(run.bits.low);
  if (run.bits.high_mask != 0) chunk.note_word(run.bits.high());
  chunk.note_whether_words_lack();
  state.ring.note_usable(chunk);
  state.runs.unsettle(chunk);
}

BlockRun find_blocks(const FixedPoolState& state, const void* blocks, std::size_t count) {
  const Span* const span = find_span(state, blocks);
  if (span == nullptr) state.stop("free of a pointer that is no block of the pool", blocks);
  return {&chunk_of(*span), index_of_block(state, *span, blocks, count)};
}

void keep_nothing_at_hand(FixedPoolState& state) {
  report_freed(state);
  pause_walk(state);
  state.front->freed_end = state.front->freed;
  state.front->freed_runs = &FreedRuns::none();
  state.has_nothing_at_hand = true;
}

void keep_freed_at_hand(FixedPoolState& state) {
  state.has_nothing_at_hand = false;
  if (state.has_hits && magazines_of(state) == nullptr)
    state.front->freed_end = state.freed + FixedPoolState::kFreedBlocks;
  if (state.freed_runs != nullptr) state.front->freed_runs = &state.freed_runs->tops();
}

void begin_magazines(FixedPoolState& state) {
  report_freed(state);
  state.front->freed_end = state.front->freed;
  __atomic_store_n(&state.front->has_magazines, true, __ATOMIC_RELAXED);
  for (std::uint32_t slot = 0; slot < state.ring.count(); ++slot) state.ring[slot].write_live_bytes();
}

std::uint32_t take_free_blocks(FixedPoolState& state, std::uint32_t least, std::uint32_t most,
                               FreeEntry* entries) {
  const detail::FixedPoolFront& front = *state.front;
  std::uint32_t taken = 0;
  while (taken < least) {
    std::uint64_t bits = *front.word;
    if (bits == 0) {
      if (advance(state)) continue;
      PoolChunk* const chunk = taken == 0 ? grow(state) : nullptr;
      if (chunk == nullptr) break;
      stand_on_new(state, *chunk);
      continue;
    }
    const PoolChunk& chunk = *state.walk.chunk();
    std::uint8_t* const bytes = live_bytes(*chunk.span) + number_of(state.walk.first());
    for (; bits != 0 && taken < most; bits &= bits - 1) {
      const int position = std::countr_zero(bits);
      entries[taken++] = {front.word_start + static_cast<std::size_t>(position) * front.stride,
                          bytes + position};
    }
    bitmap::store(front.word, bits);
  }
  std::reverse(entries, entries + taken);  // the top is taken first: the lowest address
  return taken;
}

void free_entries(FixedPoolState& state, const FreeEntry* entries, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    const Span& span = *page_map.find(entries[i].block);
    const auto index = static_cast<BlockIndex>(entries[i].is_live - live_bytes(span));
    take_back(state, {&chunk_of(span), index}, 1);
  }
}

constexpr FixedPoolBackEnd kFixedPoolOverChunks{
    allocate,       allocate_run, deallocate, deallocate_run, deallocate_batch, owns,           reserve,
    release_unused, clear,        end,        visit_live,     first_of_malloc,  validate_chunks};

}  // namespace tarn::internal
