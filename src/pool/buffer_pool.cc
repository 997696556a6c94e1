// The entry points of BufferPool and of its handles.
#include "tarn/buffer_pool.h"

#include <new>

#include "base/text.h"
#include "base/units.h"
#include "general/pool_registry.h"
#include "general/setup.h"
#include "os/checker.h"
#include "os/fatal.h"
#include "os/held_locks.h"
#include "page/metadata.h"
#include "page/page_map.h"
#include "pool/buffer_pool_state.h"
#include "pool/heap_state.h"
#include "pool/thread_magazines.h"
#include "tarn/buffer_chain.h"

namespace TARN_NAMESPACE::detail {

using namespace internal;

namespace {

constexpr const char* kUsualName = "buffer pool";

LoneCount& lone_count_of(std::uint32_t* others) {
  return *reinterpret_cast<LoneCount*>(reinterpret_cast<char*>(others) - offsetof(LoneCount, others));
}

void deallocate_any(PoolHeader& pool, void* block);

// Callers may use all of it.
std::size_t usable_size_of(PoolHeader& pool, const void* block) {
  const FixedPoolState& size = static_cast<const FixedPoolState&>(pool);
  if (size.poisons) os::unpoison(block, size.front->stride);
  return size.front->stride;
}

constexpr PoolOperations kOperations{.kind = "buffer pool",
                                     .deallocate = deallocate_any,
                                     .usable_size = usable_size_of,
                                     .use = use_of_fixed_pool,
                                     .release_unused = release_unused_of_shared_pool};

void deallocate_above(PoolHeader& pool, void* block) {
  heap_deallocate(static_cast<HeapState*>(&pool), block);
}

constexpr PoolOperations kOperationsAbove{.kind = "buffer pool",
                                          .deallocate = deallocate_above,
                                          .usable_size = usable_size_in_heap,
                                          .use = use_of_heap,
                                          .release_unused = release_unused_of_heap};

// -- Blocks ---------------------------------------------------------------------------------------------

PoolHeader* pool_of(const Span* span) {
  return span != nullptr ? static_cast<PoolHeader*>(ChunkRuns::pool_of(*span)) : nullptr;
}

// \returns the pool of the size that a chunk's blocks have; nullptr when the span is no such chunk.
FixedPoolState* size_of(const Span* span) {
  PoolHeader* const pool = pool_of(span);
  return pool != nullptr && pool->operations == &kOperations ? static_cast<FixedPoolState*>(pool) : nullptr;
}

// \returns the count of a live block; nullptr when it is malloc's, and so lies in no chunk.
std::uint32_t* references_of(const FixedPoolFront& front, const void* block) {
  if (front.mutex == nullptr) return nullptr;
  const Span* const span = page_map.find(block);
  std::uint64_t index = 0;
  find_in_span(*span, front.reciprocal, block, &index);
  return chunk_of(*span).references + index;
}

void* take(BufferPoolState::Size& size, std::size_t bytes) {
  FixedPoolFront& front = size.front;
  void* block = nullptr;
  if (is_alone(front) && front.mutex != nullptr) {
    block = fixed_pool_allocate(front);
    if (block != nullptr) size.taken.add(1);
  } else {
    block = fixed_pool_allocate_shared(front);
  }
  if (front.checked_as != nullptr && block != nullptr) [[unlikely]]
    os::note_pool_allocation(front.checked_as, block, bytes);
  return block;
}

void tell_checkers(const FixedPoolFront& front, void* block) {
  os::note_pool_free(front.checked_as, block);
  if (front.state->poisons) os::poison(block, front.stride);
}

// Frees a block that has no references any more.
void give_back(FixedPoolFront& front, void* block) {
  if (front.checked_as != nullptr) [[unlikely]]
    tell_checkers(front, block);
  fixed_pool_deallocate_shared(front, block);
}

/// What a block is freed as: the references of a plain one must be 0.
enum class FreedAs : bool { kPlain, kShared };

// \pre the span is a chunk of the size.
template <FreedAs kAs>
TARN_INLINE void give_back_at(FixedPoolState& size, const Span& span, void* block) {
  FixedPoolFront& front = *size.front;
  if (ThreadMagazines* const magazines = size.magazines.load(std::memory_order_acquire))
    return kAs == FreedAs::kPlain ? magazines->deallocate_plain_buffer(block) : magazines->deallocate(block);
  std::uint64_t index = 0;
  const bool is_block = find_in_span(span, front.reciprocal, block, &index);
  if (kAs == FreedAs::kPlain && is_block) stop_if_referred_to(size, span, index, block);
  // A mark of the span, and whatever is wrong, are for the slow door.
  if (front.checked_as != nullptr || ProgramGuard::is_needed() || !is_block || span.marked_pool() != &size)
      [[unlikely]]
    return give_back(front, block);
  fixed_pool_deallocate_at(front, span, index, block);
  size.taken->subtract(1);
}

void deallocate_any(PoolHeader& pool, void* block) {
  FixedPoolState& size = static_cast<FixedPoolState&>(pool);
  const Span* const span = page_map.find(block);
  size_of(span) == &size ? give_back_at<FreedAs::kPlain>(size, *span, block) : give_back(*size.front, block);
}

// -- Making and ending ------------------------------------------------------------------------------------

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
                          .name = options.name != nullptr ? options.name : kUsualName},
                         poisons, state, kOperations))
    return false;
  state.strides[state.size_count++] = static_cast<std::uint32_t>(front.stride);
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
  for (unsigned doubling = 0; doubling < BufferPoolState::kDoublings; ++doubling) {
    const std::size_t half = doubling == 0 ? 0 : std::size_t{1} << (doubling - 1);
    while (index + 1 < state.size_count && state.strides[index] <= half) ++index;
    state.first_larger[doubling] = static_cast<std::uint8_t>(index);
  }
  return true;
}

bool add_heap(BufferPoolState& state, const BufferPoolOptions& options, bool poisons) {
  if (options.above == AboveLargest::kRefuse) return true;
  state.heap = make_heap_state({.name = state.name(), .hard_limit = options.largest_above_bytes},
                               kOperationsAbove, poisons);
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
    live.bytes += count * state.strides[i];
  }
  return live;
}

void report(const BufferPoolState& state, const LiveBuffers& live) {
  FixedText<256> line;
  line.add("tarn: '").add(state.name()).add("' ended with ").add_decimal(live.count);
  line.add(live.count == 1 ? " live buffer, " : " live buffers, ").add_decimal(live.bytes).add(" bytes\n");
  os::write_line(line.data(), line.length());
}

// -- Shared buffers ---------------------------------------------------------------------------------

std::uint32_t* make_lone_count(BufferPoolState& state, FixedPoolFront* front, void* block) {
  const os::LockGuard guard(state.counts_mutex());
  LoneCount* count = state.free_counts;
  if (count != nullptr) {
    state.free_counts = count->next_free;
  } else {
    void* const record = metadata.allocate(sizeof(LoneCount));
    if (record == nullptr) return nullptr;
    count = new (record) LoneCount{};
    count->next = state.counts;
    count->pool = &state;
    state.counts = count;
  }
  count->front = front;
  count->block = block;
  count->others = 0;
  return &count->others;
}

// Frees a buffer that lies in no chunk.
void end_lone(void* block, std::uint32_t* others) {
  LoneCount& count = lone_count_of(others);
  BufferPoolState& pool = *count.pool;
  FixedPoolFront* const front = count.front;
  {
    const os::LockGuard guard(pool.counts_mutex());
    if (count.block != block) os::fatal_in_pool(pool.name(), "double free", block);
    count.block = nullptr;
    count.next_free = pool.free_counts;
    pool.free_counts = &count;
  }
  front != nullptr ? give_back(*front, block) : heap_deallocate(pool.heap, block);
}

void* block_of(const BufferHandle& handle) { return handle.data - handle.offset; }

// The name is that of the pool whose memory the address lies in now.
[[noreturn]] void stop(const char* what, void* block) {
  const PoolHeader* const pool = pool_of(page_map.find(block));
  if (pool == nullptr) os::fatal(what, block);
  os::fatal_in_pool(pool->name, what, block);
}

void* allocate_above(BufferPoolState& state, std::size_t bytes) {
  void* const block = state.heap != nullptr ? heap_allocate(state.heap, bytes, state.alignment) : nullptr;
  if (block == nullptr) state.refusals_above.fetch_add(1, std::memory_order_relaxed);
  return block;
}

// \pre bytes <= largest.
void* allocate_of_size(BufferPoolState& state, std::size_t bytes, FixedPoolFront** front) {
  BufferPoolState::Size& size = state.sizes[state.index_for(bytes)];
  *front = &size.front;
  void* const block = take(size, bytes);
  if (block == nullptr) size.refusals.fetch_add(1, std::memory_order_relaxed);
  return block;
}

}  // namespace

BufferPoolState* make_buffer_pool(const BufferPoolOptions& options, bool poisons) noexcept {
  set_up_once();
  void* const record = metadata.allocate(sizeof(BufferPoolState));
  if (record == nullptr) return nullptr;
  auto* const state = new (record) BufferPoolState{};
  state->alignment = options.alignment;
  state->at_cap = options.at_cap;
  state->at_end = options.at_end;
  state->on_refusal = options.on_refusal;
  state->context = options.context;
  if (add_sizes(*state, options, poisons) && add_heap(*state, options, poisons)) return state;
  end_memory(*state);
  return nullptr;
}

void end_buffer_pool(BufferPoolState* state) noexcept {
  const LiveBuffers live = live_buffers(*state);
  if (live.count != 0 && state->at_end == AtPoolEnd::kReport) report(*state, live);
  if (live.count == 0 || state->at_end == AtPoolEnd::kDestroy) end_memory(*state);
}

void* buffer_pool_allocate(BufferPoolState* state, std::size_t bytes) noexcept {
  FixedPoolFront* front = nullptr;
  return bytes <= state->largest ? allocate_of_size(*state, bytes, &front) : allocate_above(*state, bytes);
}

void buffer_pool_deallocate(BufferPoolState* state, void* block) noexcept {
  const Span* const span = page_map.find(block);
  if (FixedPoolState* const size = size_of(span); size != nullptr && size->buffers == state) [[likely]]
    return give_back_at<FreedAs::kPlain>(*size, *span, block);
  if (heap_owns(state->heap, block)) return heap_deallocate(state->heap, block);
  for (unsigned i = 0; i < state->size_count; ++i)  // where they come from malloc
    if (fixed_pool_owns(state->sizes[i].front, block)) return give_back(state->sizes[i].front, block);
  os::fatal_in_pool(state->name(), "free of a pointer that is no block of the pool", block);
}

void buffer_pool_allocate_shared(BufferPoolState* state, std::size_t bytes, BufferHandle* handle) noexcept {
  FixedPoolFront* front = nullptr;
  void* block = nullptr;
  if (bytes <= state->largest) {
    block = allocate_of_size(*state, bytes, &front);
  } else if (bytes <= UINT32_MAX) {
    block = allocate_above(*state, bytes);
  } else {
    state->refusals_above.fetch_add(1, std::memory_order_relaxed);
  }
  if (block == nullptr) return;
  std::uint32_t* others = front != nullptr ? references_of(*front, block) : nullptr;
  if (others == nullptr) others = make_lone_count(*state, front, block);
  if (others == nullptr) {
    state->refusals_above.fetch_add(1, std::memory_order_relaxed);
    return front != nullptr ? give_back(*front, block) : heap_deallocate(state->heap, block);
  }
  *handle = {static_cast<char*>(block), others, static_cast<std::uint32_t>(bytes), 0};
  if (__atomic_load_n(others, __ATOMIC_RELAXED) != 0) [[unlikely]]
    os::fatal_in_pool(state->name(), "copy of a handle whose buffer has ended", block);
}

void end_shared_buffer(const BufferHandle& handle) noexcept {
  void* const block = block_of(handle);
  const Span* const span = page_map.find(block);
  if (FixedPoolState* const size = size_of(span)) return give_back_at<FreedAs::kShared>(*size, *span, block);
  end_lone(block, handle.others);
}

void stop_at_reference_count(const BufferHandle& handle) noexcept {
  stop("too many references to a buffer", block_of(handle));
}

void stop_at_slice(const BufferHandle& handle) noexcept {
  if (handle.others == nullptr) os::fatal("slice of no buffer");
  stop("slice beyond the end of a buffer", block_of(handle));
}

void stop_at_chain_end(const BufferChain* chain) noexcept {
  os::fatal("more bytes than a chain has are to be consumed or split off", chain);
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
  return bytes <= state->largest ? state->strides[state->index_for(bytes)] : bytes;
}

std::size_t buffer_pool_reserve(BufferPoolState* state, std::size_t bytes, std::size_t count,
                                bool populates) noexcept {
  if (bytes > state->largest) return 0;
  return fixed_pool_reserve(state->sizes[state->index_for(bytes)].front, count, populates);
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
  const BufferPoolState::Size& size = state->sizes[index];
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

void validate(detail::BufferPoolState& state) {
  std::size_t before = 0;
  for (unsigned i = 0; i < state.size_count; ++i) {
    detail::FixedPoolState& size = *state.sizes[i].front.state;
    TARN_CHECK(size.buffers == &state && state.strides[i] == size.front->stride);
    for (const std::size_t bytes : {before + 1, std::size_t{state.strides[i]}})
      TARN_CHECK(state.index_for(bytes) == i);
    before = state.strides[i];
    validate(size);
    for (std::uint32_t slot = 0; slot < size.ring.count(); ++slot) {
      PoolChunk& chunk = size.ring[slot];
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
