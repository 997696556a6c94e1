// Making and ending a buffer pool, and what it tells of itself; its blocks are in buffer_blocks.cc.
#include "tarn/buffer_pool.h"

#include <algorithm>

#include "base/text.h"
#include "base/units.h"
#include "general/options/setup.h"
#include "general/pools/pool_registry.h"
#include "os/checker.h"
#include "os/locks/held_locks.h"
#include "page/memory/metadata.h"
#include "pool/buffers/buffer_pool_state.h"
#include "pool/heaps/heap_classes.h"
#include "thread/pools/pool_owner.h"

namespace TARN_NAMESPACE::detail {

using namespace internal;

namespace {

constexpr const char* kUsualName = "buffer pool";

struct SizeList {
  BufferSize sizes[BufferPoolState::kMostSizes];
  unsigned count = 0;

  bool add(BufferSize size) {
    if (count == BufferPoolState::kMostSizes) return false;
    sizes[count++] = size;
    return true;
  }
};

bool list_sizes(const BufferPoolOptions& options, SizeList& list) {
  for (const BufferSize& size : options.sizes)
    if (!list.add(size)) return false;
  if (list.count != 0) return true;
  if (options.smallest_bytes == 0 || options.smallest_bytes > options.largest_bytes ||
      options.largest_bytes > kMediumLimit)
    return false;
  for (std::size_t bytes = options.smallest_bytes; bytes < options.largest_bytes; bytes *= 2)
    if (!list.add({.bytes = bytes})) return false;
  return list.add({.bytes = options.largest_bytes});
}

// \returns false when an option is out of its range, or memory is refused.
bool add_size(BufferPoolState& state, const BufferPoolOptions& options, const BufferSize& size,
              bool poisons) {
  constexpr std::size_t kMostPerChunk = 12'000;  // the memory of more counts is not used again
  constexpr std::size_t kNoCap = SIZE_MAX;
  if (!are_valid({.block_bytes = size.bytes, .alignment = options.alignment})) return false;
  const std::size_t least_step = options.alignment < 8 ? 8 : options.alignment;
  const std::size_t bytes = round_up(size.bytes, least_step);
  std::size_t per_chunk = options.chunk_bytes == 0 ? usual_blocks_in_chunk(bytes)
                                                   : std::min(options.chunk_bytes / bytes, kMostPerChunk);
  if (per_chunk == 0) per_chunk = 1;
  const std::size_t most =
      std::min({size.largest_count, options.largest_count, options.largest_size_bytes / bytes});
  const auto usual =
      most >= kNoCap / bytes ? BlockPoolState::Source::kRecords : BlockPoolState::Source::kMarked;
  auto* const pool = metadata.make<BufferSizeState>();
  if (pool == nullptr) return false;
  pool->buffers = &state;
  SharedPoolFront& front = state.sizes[state.size_count];
  const BlockPoolRequest request{.operations = kBufferOperations,
                                 .name = options.name.text(),
                                 .usual_name = kUsualName,
                                 .geometry = chunk_geometry(bytes, options.alignment, per_chunk),
                                 .alignment = options.alignment,
                                 .source = source_of_blocks(usual, poisons || options.sensitive),
                                 .most_blocks = usual == BlockPoolState::Source::kRecords ? kNoCap : most,
                                 .is_sensitive = options.sensitive,
                                 .is_checked = poisons,
                                 .poisons = poisons,
                                 .keeps_slabs = true,
                                 .has_counts = true};
  if (!begin_block_pool(front, *pool, request)) {
    metadata.end(pool);
    return false;
  }
  ++state.size_count;
  const bool ascends = bytes > state.largest;
  state.largest = bytes;
  return ascends;
}

// Which classes the inlined calls know as the pool's.
void note_classes(BufferPoolState& state) {
  state.first_class = SIZE_MAX;
  for (unsigned i = 0; i < state.size_count; ++i) {
    const BlockPoolState& pool = *state.sizes[i].state;
    if (pool.source == BlockPoolState::Source::kRecords)
      state.first_class = std::min<std::size_t>(state.first_class, index_of_class(pool.size_class));
  }
  for (unsigned i = 0; i < state.size_count; ++i) {
    const BlockPoolState& pool = *state.sizes[i].state;
    const std::size_t near = index_of_class(pool.size_class) - state.first_class;
    if (pool.source == BlockPoolState::Source::kRecords && near < BufferPoolFront::kNearClasses)
      state.has_class[near] = true;
  }
}

bool add_sizes(BufferPoolState& state, const BufferPoolOptions& options, bool poisons) {
  SizeList list;
  if (!list_sizes(options, list)) return false;
  for (unsigned i = 0; i < list.count; ++i)
    if (!add_size(state, options, list.sizes[i], poisons)) return false;
  unsigned index = 0;
  for (unsigned doubling = 0; doubling < BufferPoolFront::kDoublings; ++doubling) {
    const std::size_t power = std::size_t{1} << doubling;
    while (index + 1 < state.size_count && state.sizes[index].stride <= power) ++index;
    state.first_larger[doubling] = &state.sizes[index];
  }
  note_classes(state);
  return true;
}

bool add_heap(BufferPoolState& state, const BufferPoolOptions& options, bool poisons) {
  if (options.above == AboveLargest::kRefuse) return true;
  state.heap = make_heap_state(
      {.name = state.name(), .hard_limit = options.largest_above_bytes, .sensitive = options.sensitive},
      kLargerBufferOperations, poisons);
  if (state.heap == nullptr) return false;
  if (state.heap->pages.poisons()) os::begin_checked_pool(state.heap);
  pool_registry.add(*state.heap);
  return true;
}

void end_memory(BufferPoolState& state) {
  for (unsigned i = 0; i < state.size_count; ++i) {
    auto* const size = static_cast<BufferSizeState*>(state.sizes[i].state);
    end_pool_of_blocks(*size);
    metadata.end(size);
  }
  end_heap(state.heap);
  while (LoneCount* const count = state.counts) {
    state.counts = count->next;
    metadata.end(count);
  }
  metadata.end(&state);
}

struct LiveBuffers {
  std::size_t count, bytes;
};

LiveBuffers live_buffers(const BufferPoolState& state) {
  const HeapUse above = heap_use(state.heap);
  LiveBuffers live{above.live_count, above.live_bytes};
  for (unsigned i = 0; i < state.size_count; ++i) {
    const std::size_t count = block_pool_live_count(state.sizes[i].state);
    live.count += count;
    live.bytes += count * state.sizes[i].stride;
  }
  return live;
}

void report(const BufferPoolState& state, const LiveBuffers& live) {
  FixedText<256> line;
  line.add("tarn: '").add(state.name()).add("' ended with ").add_decimal(live.count);
  line.add(live.count == 1 ? " live buffer, " : " live buffers, ").add_decimal(live.bytes).add(" bytes\n");
  os::write_line(line);
}

}  // namespace

BufferPoolState* make_buffer_pool(const BufferPoolOptions& options, bool poisons) noexcept {
  set_up_once();
  auto* const state = metadata.make<BufferPoolState>();
  if (state == nullptr) return nullptr;
  state->alignment = options.alignment;
  state->at_cap = options.at_cap;
  state->at_end = options.at_end;
  state->on_refusal = options.on_refusal;
  state->context = options.context;
  if (add_sizes(*state, options, poisons) && add_heap(*state, options, poisons)) return state;
  end_memory(*state);
  return nullptr;
}

BufferPoolFront* buffer_pool_front(BufferPoolState* state) noexcept { return state; }

void end_buffer_pool(BufferPoolState* state) noexcept {
  const LiveBuffers live = live_buffers(*state);
  if (live.count != 0 && state->at_end == AtPoolEnd::kReport) report(*state, live);
  if (live.count == 0 || state->at_end == AtPoolEnd::kDestroy) end_memory(*state);
}

void buffer_pool_refused(BufferPoolState* state) noexcept {
  if (state->on_refusal == nullptr) return;
  os::check_no_lock_is_held("while a function of the program's runs");
  state->on_refusal(state->context);
}

bool buffer_pool_throws(const BufferPoolState* state) noexcept { return state->at_cap == AtCap::kThrow; }

bool buffer_pool_owns(const BufferPoolState* state, const void* pointer) noexcept {
  for (unsigned i = 0; i < state->size_count; ++i)
    if (block_pool_owns(state->sizes[i].state, pointer)) return true;
  return heap_owns(state->heap, pointer);
}

std::size_t buffer_pool_good_size(const BufferPoolState* state, std::size_t bytes) noexcept {
  return bytes <= state->largest ? state->size_for_any(bytes).stride : bytes;
}

std::size_t buffer_pool_reserve(BufferPoolState* state, std::size_t bytes, std::size_t count,
                                bool populates) noexcept {
  if (bytes > state->largest) return 0;
  return block_pool_reserve(state->size_for_any(bytes).state, count, populates);
}

std::size_t buffer_pool_release_unused(BufferPoolState* state) noexcept {
  std::size_t bytes = heap_release_unused(state->heap);
  for (unsigned i = 0; i < state->size_count; ++i) bytes += block_pool_release_unused(state->sizes[i].state);
  return bytes;
}

std::size_t buffer_pool_size_count(const BufferPoolState* state) noexcept { return state->size_count; }

BufferUse buffer_pool_use(const BufferPoolState* state, std::size_t index) noexcept {
  if (index >= state->size_count) {
    const std::size_t refusals = state->refusals_above.load(std::memory_order_relaxed);
    const HeapUse use = heap_use(state->heap);
    return {0,       use.live_count, use.live_bytes, use.peak_live_bytes, use.live_count, use.mapped_bytes,
            refusals};
  }
  const SharedPoolFront& size = state->sizes[index];
  ReturnedPages returned;
  const PoolUse use = use_of_blocks(*size.state, returned);
  return {use.block_bytes, use.live_count,   use.live_bytes, use.peak_live_bytes,
          use.capacity,    use.mapped_bytes, use.refusals};
}

}  // namespace TARN_NAMESPACE::detail

namespace tarn::internal {

constexpr PoolOperations kLargerBufferOperations = operations_of_heap("buffer pool");

void validate(detail::BufferPoolState& state) {
  // Each size serves what the one before is too small for; each count without a block is in the free list.
  std::size_t before = 0;
  for (unsigned i = 0; i < state.size_count; ++i) {
    const detail::BlockPoolState& size = *state.sizes[i].state;
    TARN_CHECK(static_cast<const detail::BufferSizeState&>(size).buffers == &state);
    for (const std::size_t bytes : {before + 1, size.stride})
      TARN_CHECK(&state.size_for(bytes) == &state.sizes[i]);
    before = size.stride;
  }
  TARN_CHECK(state.largest == before);
  std::size_t without_block = 0, free_counts = 0;
  for (const detail::LoneCount* count = state.counts; count != nullptr; count = count->next) {
    TARN_CHECK(count->pool == &state);
    without_block += count->block == nullptr ? 1 : 0;
  }
  for (const detail::LoneCount* count = state.free_counts; count != nullptr; count = count->next_free)
    free_counts += count->block == nullptr ? 1 : 0;
  TARN_CHECK(free_counts == without_block);
  if (state.heap != nullptr) validate(*state.heap);
}

}  // namespace tarn::internal
