// The slow side of FixedPool and SharedFixedPool: chunks, the walk, and runs of blocks.
//
// A chunk is a span of its own whose free bits are the pool's. Its summary has a one for each word of bits
// that may have ones: always for the words that do, also for the word the walk stands on. The ring is an
// array of the chunks in address order, with a one per chunk whose summary is not empty.
//
// Runs of several blocks: a chunk's `longest_run` is an upper bound. A search that fails for n blocks lowers
// it to n - 1 and settles the chunk: it is listed by its bound, so that no later search for n looks at it,
// until one of its blocks is freed. Each free unsettles at most one chunk, so searches cost O(words of a
// chunk) on average, whatever the number of chunks.
#include "tarn/fixed_pool.h"

#include <atomic>
#include <bit>
#include <cstring>
#include <new>

#include "base/bits.h"
#include "base/units.h"
#include "general/configuration.h"
#include "general/pool_registry.h"
#include "general/setup.h"
#include "general/system_blocks.h"
#include "os/checker.h"
#include "os/fatal.h"
#include "os/memory.h"
#include "page/background.h"
#include "page/metadata.h"
#include "page/page_cache.h"
#include "page/page_map.h"
#include "pool/live_blocks.h"

namespace tarn::internal {
namespace {

constexpr std::size_t kLargestBlock = 256 * 1024;
constexpr std::size_t kLargestAlignment = 65536;
constexpr std::size_t kDenseBytes = 8 * 1024 * 1024;  // a pool of this size fills its huge pages
constexpr std::size_t kLargestChunkCount = 32768;     // blocks
constexpr std::size_t kWordsPerSummary = 64;
constexpr std::size_t kLargestSummary = kLargestChunkCount / 64 / kWordsPerSummary;
constexpr std::size_t kLeastStride = 8;
constexpr std::size_t kColouredStride = 128;  // blocks at multiples of it leave cache sets unused
constexpr unsigned kExactRuns = 64;  // bounds up to here have a list each, larger ones a list per doubling
constexpr unsigned kRunLists = kExactRuns + 11;

constinit std::uint64_t no_free_bits = 0;

struct PoolChunk {
  PoolChunk* previous;  // in the list of its bound, or of those that are not settled
  PoolChunk* next;
  Span* span;
  std::uint32_t slot;  // in the ring
  std::uint32_t block_count;
  std::uint32_t word_count;
  std::uint32_t longest_run;  // none is longer, while the chunk is settled
  std::uint32_t run_word;     // where the search for the next run begins
  std::uint64_t summary[kLargestSummary];

  std::uint64_t* words() { return reinterpret_cast<std::uint64_t*>(this + 1); }
  static std::size_t record_bytes(std::uint32_t words) {
    return sizeof(PoolChunk) + words * sizeof(std::uint64_t);
  }

  void note_word(std::uint32_t word) { summary[word / 64] |= std::uint64_t{1} << (word % 64); }
  void forget_word(std::uint32_t word) { summary[word / 64] &= ~(std::uint64_t{1} << (word % 64)); }
  /// The first word at or after `from` that may have ones; word_count if there is none.
  std::uint32_t next_word(std::uint32_t from) const {
    for (std::uint32_t i = from / 64; i < kLargestSummary; ++i) {
      const std::uint64_t mask = i == from / 64 ? ~std::uint64_t{0} << (from % 64) : ~std::uint64_t{0};
      if ((summary[i] & mask) != 0)
        return i * 64 + static_cast<std::uint32_t>(std::countr_zero(summary[i] & mask));
    }
    return word_count;
  }
  bool is_empty() const {
    for (const std::uint64_t part : summary)
      if (part != 0) return false;
    return true;
  }
  std::size_t free_count() {
    std::size_t count = 0;
    for (std::uint32_t i = 0; i < word_count; ++i)
      count += count_ones(__atomic_load_n(words() + i, __ATOMIC_RELAXED));
    return count;
  }
  void free_all() {
    for (std::uint32_t i = 0; i < word_count; ++i)
      __atomic_store_n(words() + i, ~std::uint64_t{0}, __ATOMIC_RELAXED);
    if (block_count % 64 != 0)
      __atomic_store_n(words() + word_count - 1, (std::uint64_t{1} << (block_count % 64)) - 1,
                       __ATOMIC_RELAXED);
    for (std::uint32_t i = 0; i < word_count; ++i) note_word(i);
    longest_run = block_count;
  }
};

std::uint64_t ones(unsigned first, unsigned count) {
  return (count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1) << first;
}

/// Bit i is one when bits i .. i + count - 1 of the two words, low first, all are. \pre 1 <= count <= 64.
std::uint64_t starts_of_runs(std::uint64_t low, std::uint64_t high, unsigned count) {
  unsigned __int128 bits = (static_cast<unsigned __int128>(high) << 64) | low;
  for (unsigned have = 1; have < count;) {
    const unsigned step = have < count - have ? have : count - have;
    bits &= bits >> step;
    have += step;
  }
  return static_cast<std::uint64_t>(bits);
}

/// Index of the first of `count` free blocks in a row; block_count if there are none.
std::uint32_t find_run(PoolChunk& chunk, std::uint32_t count) {
  const std::uint64_t* const words = chunk.words();
  if (count <= 64) {
    const std::uint32_t first_word = chunk.run_word;
    for (const bool is_first_half : {true, false}) {
      const std::uint32_t end = is_first_half ? chunk.word_count : first_word;
      for (std::uint32_t i = chunk.next_word(is_first_half ? first_word : 0); i < end;
           i = chunk.next_word(i + 1)) {
        const std::uint64_t starts =
            starts_of_runs(words[i], i + 1 < chunk.word_count ? words[i + 1] : 0, count);
        if (starts == 0) continue;
        chunk.run_word = i;
        return i * 64 + static_cast<std::uint32_t>(std::countr_zero(starts));
      }
    }
    return chunk.block_count;
  }
  std::uint32_t first = 0, length = 0;
  for (std::uint32_t i = 0; i < chunk.word_count; ++i) {
    const auto prefix = static_cast<std::uint32_t>(std::countr_one(words[i]));
    if (length + prefix >= count) return first;
    if (prefix == 64) {
      length += 64;
      continue;
    }
    length = static_cast<std::uint32_t>(std::countl_one(words[i]));
    first = (i + 1) * 64 - length;
  }
  return chunk.block_count;
}

unsigned run_list_of(std::uint32_t longest) {
  return longest <= kExactRuns ? longest : kExactRuns + static_cast<unsigned>(std::bit_width(longest)) - 6;
}

}  // namespace
}  // namespace tarn::internal

namespace TARN_NAMESPACE::detail {

using namespace internal;

struct FixedPoolState : PoolHeader {
  FixedPoolFront* front;
  PoolChunk** ring;
  std::uint64_t* usable;  // a one per chunk whose summary is not empty
  std::uint32_t chunk_count;
  std::uint32_t ring_capacity;
  PoolChunk* current;  // the walk stands in it; nullptr before the first block
  std::uint32_t current_word;
  // Several blocks side by side came back to it last: the next ones may come from there.
  PoolChunk* run_chunk;
  std::uint32_t blocks_per_chunk;
  std::size_t alignment;
  std::size_t capacity;  // blocks
  std::size_t largest_count;
  std::size_t mapped_bytes;
  std::atomic<std::size_t> system_count;  // live blocks, while they are malloc's; observers read it
  std::uint32_t chunks_made;              // colours them
  AtCap at_cap;
  bool poisons;
  bool uses_system;
  void (*on_refusal)(void*);
  void* context;
  List<PoolChunk> unsettled;
  List<PoolChunk> by_run[kRunLists];
  // No bound in the list is larger, so that a search need not walk it again.
  std::uint32_t largest_in[kRunLists];
};

namespace {

PoolChunk& chunk_of(const Span& span) {
  return *reinterpret_cast<PoolChunk*>(span.free_bits - sizeof(PoolChunk) / 8);
}

bool is_usable(const FixedPoolState& state, std::uint32_t slot) {
  return ((state.usable[slot / 64] >> (slot % 64)) & 1) != 0;
}
void set_usable(FixedPoolState& state, std::uint32_t slot, bool value) {
  const std::uint64_t bit = std::uint64_t{1} << (slot % 64);
  state.usable[slot / 64] = value ? state.usable[slot / 64] | bit : state.usable[slot / 64] & ~bit;
}

/// The first usable chunk at or after `from`, going round; chunk_count if there is none.
std::uint32_t next_usable(const FixedPoolState& state, std::uint32_t from) {
  const std::uint32_t words = (state.chunk_count + 63) / 64;
  if (words == 0) return state.chunk_count;
  if (from >= state.chunk_count) from = 0;
  for (std::uint32_t step = 0; step <= words; ++step) {
    const std::uint32_t i = (from / 64 + step) % words;
    const std::uint64_t mask = step == 0 ? ~std::uint64_t{0} << (from % 64) : ~std::uint64_t{0};
    if ((state.usable[i] & mask) != 0)
      return i * 64 + static_cast<std::uint32_t>(std::countr_zero(state.usable[i] & mask));
  }
  return state.chunk_count;
}

void stand_on(FixedPoolState& state, PoolChunk& chunk, std::uint32_t word) {
  state.current = &chunk;
  state.current_word = word;
  state.front->word = chunk.words() + word;
  state.front->word_start = chunk.span->start + std::size_t{word} * 64 * state.front->stride;
}

void stand_nowhere(FixedPoolState& state) {
  state.current = nullptr;
  state.front->word = &no_free_bits;
}

// The word the walk stands on may have become empty without anybody having told the summary.
void leave_word(FixedPoolState& state) {
  PoolChunk* const chunk = state.current;
  if (chunk == nullptr || chunk->words()[state.current_word] != 0) return;
  chunk->forget_word(state.current_word);
  if (chunk->is_empty()) set_usable(state, chunk->slot, false);
}

void note_bits(FixedPoolState& state, PoolChunk& chunk, std::uint32_t word) {
  chunk.note_word(word);
  set_usable(state, chunk.slot, true);
}

// A settled chunk's span carries a mark on the pool's address, so that freeing takes the slow door.
void* tagged(FixedPoolState& state) { return reinterpret_cast<char*>(&state) + 1; }
bool is_settled(const PoolChunk& chunk) { return (address_of(chunk.span->pool) & 1) != 0; }
bool is_of(const Span* span, const FixedPoolState& state) {
  return span != nullptr && (address_of(span->marked_pool()) & ~std::uintptr_t{1}) == address_of(&state);
}

void list_by_run(FixedPoolState& state, PoolChunk& chunk) {
  const unsigned list = run_list_of(chunk.longest_run);
  state.by_run[list].push_front(&chunk);
  if (chunk.longest_run > state.largest_in[list]) state.largest_in[list] = chunk.longest_run;
}

void unlist(FixedPoolState& state, PoolChunk& chunk) {
  (is_settled(chunk) ? state.by_run[run_list_of(chunk.longest_run)] : state.unsettled).remove(&chunk);
}

void unsettle(FixedPoolState& state, PoolChunk& chunk) {
  if (!is_settled(chunk)) return;
  unlist(state, chunk);
  chunk.span->set_marked_pool(&state);
  chunk.longest_run = chunk.block_count;
  state.unsettled.push_front(&chunk);
}

void settle(FixedPoolState& state, PoolChunk& chunk, std::uint32_t longest_run) {
  unlist(state, chunk);
  chunk.span->set_marked_pool(tagged(state));
  chunk.longest_run = longest_run;
  list_by_run(state, chunk);
}

std::size_t ring_record_bytes(std::uint32_t capacity) {
  return capacity * sizeof(PoolChunk*) + (capacity + 63) / 64 * sizeof(std::uint64_t);
}

bool make_room_in_ring(FixedPoolState& state) {
  if (state.chunk_count < state.ring_capacity) return true;
  os::LockGuard guard(state.structure);  // who looks from outside walks the ring
  const std::uint32_t capacity = state.ring_capacity == 0 ? 64 : state.ring_capacity * 2;
  char* const record = static_cast<char*>(metadata.allocate(ring_record_bytes(capacity)));
  if (record == nullptr) return false;
  std::memset(record, 0, ring_record_bytes(capacity));
  auto** const ring = reinterpret_cast<PoolChunk**>(record);
  auto* const usable = reinterpret_cast<std::uint64_t*>(record + capacity * sizeof(PoolChunk*));
  for (std::uint32_t i = 0; i < state.chunk_count; ++i) ring[i] = state.ring[i];
  for (std::uint32_t i = 0; i < (state.chunk_count + 63) / 64; ++i) usable[i] = state.usable[i];
  if (state.ring != nullptr) metadata.free(state.ring, ring_record_bytes(state.ring_capacity));
  state.ring = ring;
  state.usable = usable;
  state.ring_capacity = capacity;
  return true;
}

void place_in_ring(FixedPoolState& state, std::uint32_t slot, PoolChunk* chunk, bool usable) {
  state.ring[slot] = chunk;
  chunk->slot = slot;
  set_usable(state, slot, usable);
}

void insert_in_ring(FixedPoolState& state, PoolChunk& chunk) {
  std::uint32_t slot = state.chunk_count++;
  set_usable(state, slot, false);
  for (; slot > 0 && state.ring[slot - 1]->span->start > chunk.span->start; --slot)
    place_in_ring(state, slot, state.ring[slot - 1], is_usable(state, slot - 1));
  place_in_ring(state, slot, &chunk, true);
}

void remove_from_ring(FixedPoolState& state, PoolChunk& chunk) {
  for (std::uint32_t slot = chunk.slot; slot + 1 < state.chunk_count; ++slot)
    place_in_ring(state, slot, state.ring[slot + 1], is_usable(state, slot + 1));
  set_usable(state, --state.chunk_count, false);
}

// Chunks whose blocks would all start on the same cache sets begin a line later than the one before.
std::size_t next_colour(FixedPoolState& state, std::size_t used_bytes, PageCount pages) {
  const std::size_t stride = state.front->stride;
  if (stride % kColouredStride != 0 || state.alignment > kCacheLineBytes) return 0;
  const std::size_t spare = bytes_of(pages) - used_bytes, colours = stride / kCacheLineBytes;
  const std::size_t colour = state.chunks_made++ % colours * kCacheLineBytes;
  return colour <= spare ? colour : 0;
}

PoolChunk* make_chunk(FixedPoolState& state) {
  const std::size_t left = state.largest_count - state.capacity;
  const auto count =
      static_cast<std::uint32_t>(left < state.blocks_per_chunk ? left : state.blocks_per_chunk);
  if (count == 0 || !make_room_in_ring(state)) return nullptr;
  const std::size_t stride = state.front->stride, used_bytes = count * stride;
  const auto pages = static_cast<PageCount>((used_bytes + kPageBytes - 1) >> kPageShift);
  const std::uint32_t words = (count + 63) / 64;
  void* const record = metadata.allocate(PoolChunk::record_bytes(words));
  if (record == nullptr) return nullptr;
  Span* const span = span_store.take(0);
  PageRun run{nullptr, false};
  const bool is_dense = state.mapped_bytes >= kDenseBytes && page_cache.uses_huge_pages();
  if (span != nullptr) run = page_cache.allocate_pages(pages, is_dense ? Density::kDense : Density::kSparse);
  if (run.start == nullptr) {
    if (span != nullptr) span_store.give_back(span);
    metadata.free(record, PoolChunk::record_bytes(words));
    return nullptr;
  }
  PoolChunk* const chunk = new (record) PoolChunk{};
  chunk->span = span;
  chunk->block_count = count;
  chunk->word_count = words;
  chunk->free_all();
  span->start = run.start + next_colour(state, used_bytes, pages);
  span->free_bits = chunk->words();
  span->pool = &state;
  span->stride = static_cast<std::uint32_t>(stride);
  span->pool_blocks = count;
  span->pages = pages;
  span->kind = SpanKind::kPool;
  if (state.poisons) os::poison(run.start, bytes_of(pages));
  {
    os::LockGuard guard(state.structure);
    insert_in_ring(state, *chunk);
    state.capacity += count;
    state.mapped_bytes += bytes_of(pages);
  }
  state.unsettled.push_front(chunk);
  page_map.set(span);
  state.front->spans = page_map.first_table();
  return chunk;
}

void end_chunk(FixedPoolState& state, PoolChunk& chunk) {
  if (state.current == &chunk) stand_nowhere(state);
  if (state.run_chunk == &chunk) state.run_chunk = nullptr;
  unlist(state, chunk);
  Span* const span = chunk.span;
  char* const start = span->first_page();
  const PageCount pages = span->pages;
  {
    os::LockGuard guard(state.structure);
    remove_from_ring(state, chunk);
    state.capacity -= chunk.block_count;
    state.mapped_bytes -= bytes_of(pages);
  }
  if (state.poisons) os::unpoison(start, bytes_of(pages));
  page_map.clear(span);
  span->free_bits = span->inline_free_bits;
  span->pool = nullptr;
  span_store.give_back(span);
  metadata.free(&chunk, PoolChunk::record_bytes(chunk.word_count));
  page_cache.free_pages(start, pages, PageState::kDirty);
}

/// The lock of a pool that has one.
class OptionalGuard {
 public:
  explicit OptionalGuard(Mutex* mutex) : mutex_(mutex) {
    if (mutex_ != nullptr) mutex_->lock();
  }
  ~OptionalGuard() {
    if (mutex_ != nullptr) mutex_->unlock();
  }
  OptionalGuard(const OptionalGuard&) = delete;
  OptionalGuard& operator=(const OptionalGuard&) = delete;

 private:
  Mutex* const mutex_;
};

[[noreturn]] void stop(const FixedPoolState& state, const char* what, const void* block) {
  os::fatal_in_pool(state.name, what, block);
}

Span& span_of_block(FixedPoolState& state, const void* block) {
  Span* const span = page_map.find(block);
  if (!is_of(span, state)) stop(state, "free of a pointer that is no block of the pool", block);
  return *span;
}

std::uint32_t index_of_block(const FixedPoolState& state, const Span& span, const void* block,
                             std::size_t count) {
  const std::size_t offset = static_cast<std::size_t>(static_cast<const char*>(block) - span.start);
  const std::size_t index = offset / state.front->stride;
  if (address_of(block) < address_of(span.start) || index * state.front->stride != offset)
    stop(state, "free of a pointer into a block", block);
  const std::uint32_t block_count = chunk_of(span).block_count;
  if (index >= block_count || count > block_count - index)
    stop(state, "free of a pointer that is no block of the pool", block);
  return static_cast<std::uint32_t>(index);
}

// Blocks of malloc, where the program asked for them instead.
void* allocate_from_system(FixedPoolState& state, std::size_t count) {
  std::size_t live = state.system_count.load();
  do {
    if (state.largest_count - live < count) return nullptr;
  } while (!state.system_count.compare_exchange_weak(live, live + count));
  void* const blocks = system_blocks.allocate(state, count * state.front->stride, state.alignment);
  if (blocks == nullptr) state.system_count -= count;
  return blocks;
}

// Here blocks taken together come back together, whatever count they come with.
void deallocate_to_system(FixedPoolState& state, void* blocks) {
  std::size_t bytes = 0;
  if (!system_blocks.deallocate(state, blocks, &bytes))
    stop(state, "free of a pointer that is no block of the pool", blocks);
  state.system_count -= bytes / state.front->stride;
}

void take_run(FixedPoolState& state, PoolChunk& chunk, std::uint32_t first, std::uint32_t count) {
  for (std::uint32_t at = first, left = count; left != 0;) {
    const std::uint32_t word = at / 64, part = left < 64 - at % 64 ? left : 64 - at % 64;
    std::uint64_t& bits = chunk.words()[word];
    __atomic_store_n(&bits, bits & ~ones(at % 64, part), __ATOMIC_RELAXED);
    if (bits == 0 && !(state.current == &chunk && state.current_word == word)) chunk.forget_word(word);
    at += part;
    left -= part;
  }
  if (chunk.is_empty()) set_usable(state, chunk.slot, false);
}

void* take_run_from(FixedPoolState& state, PoolChunk& chunk, std::uint32_t count) {
  const std::uint32_t first = find_run(chunk, count);
  if (first == chunk.block_count) return nullptr;
  take_run(state, chunk, first, count);
  return chunk.span->start + first * state.front->stride;
}

// Each failure settles the chunk under a lower bound, so that the search comes to an end and is not repeated.
void* find_settled_run(FixedPoolState& state, std::uint32_t count) {
  for (unsigned list = run_list_of(count); list < kRunLists; ++list) {
    if (state.largest_in[list] < count) continue;
    std::uint32_t largest = 0;
    for (PoolChunk* chunk = state.by_run[list].first(); chunk != nullptr;) {
      PoolChunk* const next = chunk->next;
      if (chunk->longest_run >= count) {
        if (void* const blocks = take_run_from(state, *chunk, count)) return blocks;
        settle(state, *chunk, count - 1);
      }
      if (chunk->longest_run > largest) largest = chunk->longest_run;
      chunk = next;
    }
    state.largest_in[list] = largest;  // or less, of those that have moved to a lower list
  }
  return nullptr;
}

void free_run(FixedPoolState& state, PoolChunk& chunk, std::uint32_t first, std::uint32_t count) {
  for (std::uint32_t at = first, left = count; left != 0;) {
    const std::uint32_t word = at / 64, part = left < 64 - at % 64 ? left : 64 - at % 64;
    const std::uint64_t mask = ones(at % 64, part);
    std::uint64_t& bits = chunk.words()[word];
    if ((bits & mask) != 0)
      stop(state, "double free",
           chunk.span->start +
               (word * 64 + static_cast<std::size_t>(std::countr_zero(bits & mask))) * state.front->stride);
    if (bits == 0) note_bits(state, chunk, word);
    __atomic_store_n(&bits, bits | mask, __ATOMIC_RELAXED);
    at += part;
    left -= part;
  }
  unsettle(state, chunk);
}

std::size_t usable_count(FixedPoolState& state) {
  if (state.uses_system) return 0;
  std::size_t count = 0;
  for (std::uint32_t slot = 0; slot < state.chunk_count; ++slot) count += state.ring[slot]->free_count();
  return count;
}

FixedPoolState& state_of(PoolHeader& pool) { return static_cast<FixedPoolState&>(pool); }

void deallocate_any(PoolHeader& pool, void* block) {
  FixedPoolState& state = state_of(pool);
  if (state.front->user != nullptr && state.front->user != &thread_cache)
    fixed_pool_check_user_slow(*state.front);
  if (state.front->checked_as != nullptr) os::note_pool_free(state.front->checked_as, block);
  const OptionalGuard guard(state.front->mutex);
  if (state.poisons && !state.uses_system) os::poison(block, state.front->stride);
  fixed_pool_deallocate_slow(*state.front, block);
}

std::size_t usable_size_of(PoolHeader& pool, const void*) { return state_of(pool).front->stride; }

PoolUse use_of(PoolHeader& pool, ReturnedPages&) {
  FixedPoolState& state = state_of(pool);
  os::LockGuard guard(state.structure);
  const std::size_t live =
      state.uses_system ? state.system_count.load() : state.capacity - usable_count(state);
  const std::size_t bytes = live * state.front->stride;
  return {state.operations->kind,
          state.name,
          state.front->stride,
          live,
          bytes,
          0,
          state.uses_system ? bytes : state.mapped_bytes,
          false};
}

std::size_t end_unused_chunks_locked(FixedPoolState& state) {
  const std::size_t before = state.mapped_bytes;
  for (std::uint32_t slot = state.chunk_count; slot-- > 0;) {
    PoolChunk& chunk = *state.ring[slot];
    if (chunk.free_count() == chunk.block_count) end_chunk(state, chunk);
  }
  return before - state.mapped_bytes;
}

std::size_t release_unused_shared(PoolHeader& pool, ReturnedPages& returned) {
  FixedPoolState& state = state_of(pool);
  if (state.front->mutex == nullptr) return 0;
  os::LockGuard guard(*state.front->mutex);
  returned.note_given_back();
  return end_unused_chunks_locked(state);
}

constexpr PoolOperations kOperations{"fixed pool", nullptr, deallocate_any,        usable_size_of,
                                     nullptr,      use_of,  release_unused_shared, nullptr};

bool are_valid(const FixedPoolOptions& options) {
  return options.block_bytes != 0 && options.block_bytes <= kLargestBlock &&
         is_power_of_two(options.alignment) && options.alignment <= kLargestAlignment &&
         options.blocks_per_chunk <= kLargestChunkCount;
}

/// Whether an address lies above this call on the thread's stack, as far as can be told from its distance.
bool lies_on_this_stack(const void* object) {
  constexpr std::size_t kLargestStack = std::size_t{64} << 20;
  return address_of(object) - address_of(__builtin_frame_address(0)) < kLargestStack;
}

// A page of blocks, more pages for larger ones; a block less where that leaves room for colours.
std::uint32_t usual_chunk(std::size_t stride) {
  constexpr std::size_t kLeastBlocks = 64, kLargestBytes = std::size_t{1} << 20;
  std::size_t bytes = stride * kLeastBlocks;
  bytes = bytes < kPageBytes      ? kPageBytes
          : bytes > kLargestBytes ? kLargestBytes
                                  : round_up(bytes, kPageBytes);
  const std::size_t count = bytes / stride;
  return static_cast<std::uint32_t>(stride % kColouredStride == 0 && count * stride == bytes ? count - 1
                                                                                             : count);
}

}  // namespace

bool make_fixed_pool(FixedPoolFront& front, const FixedPoolOptions& options, PoolThreads threads,
                     bool poisons) noexcept {
  if (!are_valid(options)) return false;
  set_up_once();
  void* const record = metadata.allocate(sizeof(FixedPoolState));
  if (record == nullptr) return false;
  auto* const state = new (record) FixedPoolState{};
  const std::size_t alignment = options.alignment < kLeastStride ? kLeastStride : options.alignment;
  front = {};
  front.stride = round_up(options.block_bytes, alignment);
  front.reciprocal = ~std::uint64_t{0} / front.stride + 1;
  front.state = state;
  if (poisons) front.checked_as = state;
  state->operations = &kOperations;
  state->set_name(options.name, "fixed pool");
  state->front = &front;
  state->stack_owner = lies_on_this_stack(&front) ? &thread_cache : nullptr;
  state->alignment = alignment;
  state->blocks_per_chunk = options.blocks_per_chunk != 0
                                ? static_cast<std::uint32_t>(options.blocks_per_chunk)
                                : usual_chunk(front.stride);
  state->largest_count = options.largest_count;
  state->at_cap = options.at_cap;
  state->poisons = poisons;
  state->uses_system = configuration.is_on(Option::kPoolsUseMalloc);
  // Blocks of malloc are counted by atomics: malloc may be ours, and is then not called under a pool's lock.
  front.mutex = threads == PoolThreads::kAny && !state->uses_system ? &state->mutex : nullptr;
  state->on_refusal = options.on_refusal;
  state->context = options.context;
  stand_nowhere(*state);
  if (poisons) os::begin_checked_pool(state);
  pool_registry.add(*state);
  if (fixed_pool_reserve(front, options.initial_count, false) >= options.initial_count) return true;
  end_fixed_pool(front);
  return false;
}

void end_fixed_pool(FixedPoolFront& front) noexcept {
  FixedPoolState& state = *front.state;
  pool_registry.remove(state);
  if (state.poisons) os::end_checked_pool(&state);
  if (state.uses_system) system_blocks.deallocate_all(state);
  while (state.chunk_count != 0) end_chunk(state, *state.ring[state.chunk_count - 1]);
  if (state.ring != nullptr) metadata.free(state.ring, ring_record_bytes(state.ring_capacity));
  metadata.free(&state, sizeof(FixedPoolState));
  background.notice();
}

void* fixed_pool_allocate_slow(FixedPoolFront& front) noexcept {
  FixedPoolState& state = *front.state;
  if (state.uses_system) return allocate_from_system(state, 1);
  PoolChunk* chunk = state.current;
  std::uint32_t word = 0;
  if (chunk != nullptr) {
    leave_word(state);
    word = chunk->next_word(state.current_word + 1);
  }
  if (chunk == nullptr || word == chunk->word_count) {
    const std::uint32_t slot = next_usable(state, chunk == nullptr ? 0 : chunk->slot + 1);
    chunk = slot != state.chunk_count ? state.ring[slot] : make_chunk(state);
    if (chunk == nullptr) {
      stand_nowhere(state);
      return nullptr;
    }
    word = chunk->next_word(0);
  }
  stand_on(state, *chunk, word);
  return fixed_pool_allocate(front);
}

void fixed_pool_deallocate_slow(FixedPoolFront& front, void* block) noexcept {
  FixedPoolState& state = *front.state;
  if (block == nullptr) return;
  if (state.uses_system) return deallocate_to_system(state, block);
  const Span& span = span_of_block(state, block);
  free_run(state, chunk_of(span), index_of_block(state, span, block, 1), 1);
}

void* fixed_pool_allocate_run(FixedPoolFront& front, std::size_t count) noexcept {
  FixedPoolState& state = *front.state;
  if (count == 1) return fixed_pool_allocate(front);
  if (count == 0 || count > state.blocks_per_chunk) return nullptr;
  if (state.uses_system) return allocate_from_system(state, count);
  const auto wanted = static_cast<std::uint32_t>(count);
  for (PoolChunk* const likely : {state.run_chunk, state.current}) {
    if (likely == nullptr || likely->longest_run < wanted) continue;
    if (void* const blocks = take_run_from(state, *likely, wanted)) return blocks;
    settle(state, *likely, wanted - 1);
  }
  while (PoolChunk* const chunk = state.unsettled.first()) {
    if (void* const blocks = take_run_from(state, *chunk, wanted)) return blocks;
    settle(state, *chunk, wanted - 1);
  }
  if (void* const blocks = find_settled_run(state, wanted)) return blocks;
  PoolChunk* const chunk = make_chunk(state);
  return chunk != nullptr ? take_run_from(state, *chunk, wanted) : nullptr;
}

void fixed_pool_deallocate_run(FixedPoolFront& front, void* blocks, std::size_t count) noexcept {
  FixedPoolState& state = *front.state;
  if (count == 0) return;
  if (state.uses_system) return deallocate_to_system(state, blocks);
  const Span& span = span_of_block(state, blocks);
  const std::uint32_t first = index_of_block(state, span, blocks, count);
  state.run_chunk = &chunk_of(span);
  state.run_chunk->run_word = first / 64;
  free_run(state, *state.run_chunk, first, static_cast<std::uint32_t>(count));
}

bool fixed_pool_owns(const FixedPoolFront& front, const void* pointer) noexcept {
  if (front.state->uses_system) return system_blocks.pool_of(pointer) == front.state;
  return is_of(page_map.find(pointer), *front.state);
}

std::size_t fixed_pool_reserve(FixedPoolFront& front, std::size_t count, bool populates) noexcept {
  FixedPoolState& state = *front.state;
  if (state.uses_system) return count;
  std::size_t usable = usable_count(state);
  while (usable < count) {
    const PoolChunk* const chunk = make_chunk(state);
    if (chunk == nullptr) break;
    usable += chunk->block_count;
  }
  for (std::uint32_t slot = 0; populates && slot < state.chunk_count; ++slot) {
    const Span& span = *state.ring[slot]->span;
    os::populate(span.first_page(), span.bytes());
  }
  return usable;
}

std::size_t fixed_pool_release_unused(FixedPoolFront& front) noexcept {
  std::size_t released = 0;
  {
    const OptionalGuard guard(front.mutex);
    released = end_unused_chunks_locked(*front.state);
  }
  background.notice();
  return released;
}

void fixed_pool_clear(FixedPoolFront& front) noexcept {
  FixedPoolState& state = *front.state;
  if (state.poisons) {
    os::end_checked_pool(&state);
    os::begin_checked_pool(&state);
  }
  if (state.uses_system) {
    system_blocks.deallocate_all(state);
    state.system_count = 0;
  }
  for (std::uint32_t slot = 0; slot < state.chunk_count; ++slot) {
    PoolChunk& chunk = *state.ring[slot];
    unsettle(state, chunk);
    chunk.free_all();
    set_usable(state, slot, true);
    if (state.poisons) os::poison(chunk.span->first_page(), chunk.span->bytes());
  }
  if (state.chunk_count != 0) stand_on(state, *state.ring[0], 0);
}

std::size_t fixed_pool_capacity(const FixedPoolFront& front) noexcept {
  return front.state->uses_system ? front.state->system_count.load() : front.state->capacity;
}
std::size_t fixed_pool_usable_count(const FixedPoolFront& front) noexcept {
  return usable_count(*front.state);
}
std::size_t fixed_pool_blocks_per_chunk(const FixedPoolFront& front) noexcept {
  return front.state->blocks_per_chunk;
}
std::size_t fixed_pool_alignment(const FixedPoolFront& front) noexcept { return front.state->alignment; }
std::size_t fixed_pool_chunk_count(const FixedPoolFront& front) noexcept { return front.state->chunk_count; }
bool fixed_pool_throws(const FixedPoolFront& front) noexcept { return front.state->at_cap == AtCap::kThrow; }

void fixed_pool_refused(FixedPoolFront& front) noexcept {
  if (front.state->on_refusal != nullptr) front.state->on_refusal(front.state->context);
}

void fixed_pool_check_user_slow(FixedPoolFront& front) noexcept {
  if (front.user != nullptr)
    os::fatal_in_pool(front.state->name, "use of a single-thread pool by a second thread", &front);
  front.user = &thread_cache;
}

}  // namespace TARN_NAMESPACE::detail

namespace tarn::internal {

void visit_live_blocks(detail::FixedPoolFront& front, const BlockVisitor& visit) {
  const detail::FixedPoolState& state = *front.state;
  if (state.uses_system) return system_blocks.visit(state, visit);
  for (std::uint32_t slot = 0; slot < state.chunk_count; ++slot) {
    PoolChunk& chunk = *state.ring[slot];
    for (std::uint32_t i = 0; i < chunk.block_count; ++i)
      if (((chunk.words()[i / 64] >> (i % 64)) & 1) == 0) visit(chunk.span->start + i * front.stride);
  }
}

void* first_system_block(const detail::FixedPoolFront& front) {
  return front.state->uses_system ? system_blocks.first_of(*front.state) : nullptr;
}

}  // namespace tarn::internal
