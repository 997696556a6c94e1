// Making and ending a buffer pool, and what it tells of itself; its blocks are in buffer_blocks.cc.
#include "tarn/buffer_pool.h"

#include <new>

#include "base/text.h"
#include "base/units.h"
#include "general/pool_registry.h"
#include "general/setup.h"
#include "os/checker.h"
#include "os/held_locks.h"
#include "page/metadata.h"
#include "pool/buffer_pool_state.h"
#include "pool/heap_state.h"
#include "pool/sensitive_heap.h"

namespace TARN_NAMESPACE::detail {

using namespace internal;

namespace {

constexpr const char* kUsualName = "buffer pool";

void deallocate_above(PoolHeader& pool, void* block) {
  heap_deallocate(static_cast<HeapState*>(&pool), block);
}

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

std::size_t least_of(std::size_t a, std::size_t b) { return a < b ? a : b; }

// \returns false when an option is out of its range, or memory is refused.
bool add_size(BufferPoolState& state, const BufferPoolOptions& options, const BufferSize& size,
              bool poisons) {
  // With a record of at most Metadata::kLargestReused: 5 bytes and a bit for each block.
  constexpr std::size_t kMostPerChunk = 12'000;
  if (size.bytes == 0 || size.bytes > kMediumLimit || !is_power_of_two(options.alignment)) return false;
  const std::size_t least_step = options.alignment < 8 ? 8 : options.alignment;
  const std::size_t bytes = round_up(size.bytes, least_step);
  std::size_t per_chunk = options.chunk_bytes == 0 ? 0 : least_of(options.chunk_bytes / bytes, kMostPerChunk);
  if (per_chunk == 0 && options.chunk_bytes != 0) per_chunk = 1;
  const std::size_t most =
      least_of(least_of(size.largest_count, options.largest_count), options.largest_size_bytes / bytes);
  FixedPoolFront& front = state.sizes[state.size_count].front;
  if (!make_pool_of_size(front, state.sizes[state.size_count].taken,
                         {.block_bytes = bytes,
                          .alignment = options.alignment,
                          .blocks_per_chunk = per_chunk,
                          .largest_count = most,
                          .name = options.name != nullptr ? options.name : kUsualName,
                          .sensitive = options.sensitive},
                         poisons, state, kBufferOperations))
    return false;
  ++state.size_count;
  state.sizes_bytes = state.size_count * sizeof(BufferSizeFront);
  const bool ascends = front.stride > state.largest;
  state.largest = front.stride;
  return ascends;
}

bool add_sizes(BufferPoolState& state, const BufferPoolOptions& options, bool poisons) {
  SizeList list;
  if (!list_sizes(options, list)) return false;
  for (unsigned i = 0; i < list.count; ++i)
    if (!add_size(state, options, list.sizes[i], poisons)) return false;
  unsigned index = 0;
  for (unsigned doubling = 0; doubling < BufferPoolFront::kDoublings; ++doubling) {
    const std::size_t power = std::size_t{1} << doubling;
    while (index + 1 < state.size_count && state.sizes[index].front.stride <= power) ++index;
    state.first_larger[doubling] = &state.sizes[index];
  }
  return true;
}

bool add_heap(BufferPoolState& state, const BufferPoolOptions& options, bool poisons) {
  if (options.above == AboveLargest::kRefuse) return true;
  state.heap = make_heap_state(
      {.name = state.name(), .hard_limit = options.largest_above_bytes, .sensitive = options.sensitive},
      kLargerBufferOperations, poisons);
  if (state.heap == nullptr) return false;
  if (state.heap->slabs.poisons()) os::begin_checked_pool(state.heap);
  pool_registry.add(*state.heap);
  return true;
}

void end_memory(BufferPoolState& state) {
  for (unsigned i = 0; i < state.size_count; ++i) end_fixed_pool(state.sizes[i].front);
  end_heap(state.heap);
  while (LoneCount* const count = state.counts) {
    state.counts = count->next;
    metadata.free(count, sizeof(LoneCount));
  }
  metadata.free(&state, sizeof(BufferPoolState));
}

struct LiveBuffers {
  std::size_t count, bytes;
};

LiveBuffers live_buffers(const BufferPoolState& state) {
  const HeapUse above = heap_use(state.heap);
  LiveBuffers live{above.live_count, above.live_bytes};
  for (unsigned i = 0; i < state.size_count; ++i) {
    const std::size_t count = fixed_pool_live_count(state.sizes[i].front);
    live.count += count;
    live.bytes += count * state.sizes[i].front.stride;
  }
  return live;
}

void report(const BufferPoolState& state, const LiveBuffers& live) {
  FixedText<256> line;
  line.add("tarn: '").add(state.name()).add("' ended with ").add_decimal(live.count);
  line.add(live.count == 1 ? " live buffer, " : " live buffers, ").add_decimal(live.bytes).add(" bytes\n");
  os::write_line(line.data(), line.length());
}

}  // namespace

BufferPoolState* make_buffer_pool(const BufferPoolOptions& options, bool poisons) noexcept {
  set_up_once();
  void* const record = metadata.allocate(sizeof(BufferPoolState));
  if (record == nullptr) return nullptr;
  auto* const state = new (record) BufferPoolState{};
  state->sizes_start = state->sizes;
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
    if (fixed_pool_owns(state->sizes[i].front, pointer)) return true;
  return heap_owns(state->heap, pointer);
}

std::size_t buffer_pool_good_size(const BufferPoolState* state, std::size_t bytes) noexcept {
  return bytes <= state->largest ? state->size_for_any(bytes).front.stride : bytes;
}

std::size_t buffer_pool_reserve(BufferPoolState* state, std::size_t bytes, std::size_t count,
                                bool populates) noexcept {
  if (bytes > state->largest) return 0;
  return fixed_pool_reserve(state->size_for_any(bytes).front, count, populates);
}

std::size_t buffer_pool_release_unused(BufferPoolState* state) noexcept {
  std::size_t bytes = heap_release_unused(state->heap);
  for (unsigned i = 0; i < state->size_count; ++i) bytes += fixed_pool_release_unused(state->sizes[i].front);
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
  const BufferSizeFront& size = state->sizes[index];
  const FixedPoolState& pool = *size.front.state;
  const std::size_t live = fixed_pool_live_count(size.front), stride = size.front.stride;
  const std::size_t peak = size.taken.peak.load(std::memory_order_relaxed);
  return {stride,
          live,
          live * stride,
          peak * stride,
          pool.capacity,
          pool.mapped_bytes,
          size.refusals.load(std::memory_order_relaxed)};
}

}  // namespace TARN_NAMESPACE::detail

namespace tarn::internal {

constexpr PoolOperations kLargerBufferOperations{.kind = "buffer pool",
                                                 .record = PoolRecord::kHeap,
                                                 .deallocate = detail::deallocate_above,
                                                 .usable_size = detail::usable_size_in_heap,
                                                 .move_sensitive = move_to_sensitive_heap,
                                                 .use = use_of_heap,
                                                 .release_unused = release_unused_of_heap,
                                                 .add_live = add_live_of_heap};

void validate(detail::BufferPoolState& state) {
  std::size_t before = 0;
  for (unsigned i = 0; i < state.size_count; ++i) {
    detail::FixedPoolState& size = *state.sizes[i].front.state;
    TARN_CHECK(size.buffers == &state);
    for (const std::size_t bytes : {before + 1, size.front->stride})
      TARN_CHECK(&state.size_for(bytes) == &state.sizes[i]);
    before = size.front->stride;
    validate(size);
    for (std::uint32_t slot = 0; slot < size.ring.count(); ++slot) {
      PoolChunk& chunk = size.ring[slot];
      TARN_CHECK(chunk.span->pool_data == size.front);
      for (BlockIndex block{0}; block != chunk.end(); ++block)
        TARN_CHECK(chunk.references[number_of(block)] == 0 || !bitmap::test(chunk.words(), block));
    }
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
