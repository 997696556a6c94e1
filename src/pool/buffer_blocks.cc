// The blocks of buffer pools: how they are found by size and by address, taken and given back, and the counts
// of the shared ones.
#include <new>

#include "base/units.h"
#include "general/configuration.h"
#include "general/memory_limits.h"
#include "general/setup.h"
#include "os/checker.h"
#include "os/fatal.h"
#include "page/metadata.h"
#include "page/page_map.h"
#include "pool/buffer_pool_state.h"
#include "pool/heap_state.h"
#include "pool/sensitive_heap.h"
#include "pool/thread_magazines.h"
#include "pool/watched_blocks.h"
#include "tarn/buffer_chain.h"

namespace TARN_NAMESPACE::detail {

using namespace internal;

namespace {

PoolHeader* pool_of(const Span* span) {
  return span != nullptr ? static_cast<PoolHeader*>(span->unmarked_pool()) : nullptr;
}

// \returns the pool of the size that a chunk's blocks have; nullptr when the span is no such chunk.
FixedPoolState* size_of(const Span* span) {
  PoolHeader* const pool = pool_of(span);
  return pool != nullptr && pool->operations == &kBufferOperations ? static_cast<FixedPoolState*>(pool)
                                                                   : nullptr;
}

// The inlined calls need the table; there is none before the first chunk. Only a lone thread writes it.
void learn_spans(BufferPoolFront& state) {
  if (state.spans.bytes == 0 && os::is_only_thread()) state.spans = page_map.first_table();
}

// \pre the size had no magazines a moment ago.
[[gnu::noinline]] void* take_without_magazines(BufferPoolState& state, FixedPoolFront& front,
                                               std::size_t bytes) {
  learn_spans(state);
  void* block = nullptr;
  if (is_alone(front) && front.mutex != nullptr) {
    block = take_within_limits([&front] { return take_alone(*front.state); });
    if (block == nullptr) front.state->note_refusal();
    watched::note_allocated(*front.state, block, bytes);
    adjust_to_watch(*front.state);
  } else {
    block = fixed_pool_allocate_shared(front);
  }
  if (front.checked_as != nullptr && block != nullptr) [[unlikely]]
    os::note_pool_allocation(front.checked_as, block, bytes);
  return block;
}

void* take(BufferPoolState& state, BufferSizeFront& size, std::size_t bytes) {
  ThreadMagazines* const magazines = magazines_of(*size.front.state);
  void* const block =
      magazines != nullptr ? magazines->allocate() : take_without_magazines(state, size.front, bytes);
  if (block == nullptr) size.refusals.fetch_add(1, std::memory_order_relaxed);
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
  if (ThreadMagazines* const magazines = magazines_of(size))
    return kAs == FreedAs::kPlain ? magazines->deallocate_plain_buffer(span, block)
                                  : magazines->deallocate_shared_buffer(span, block);
  learn_spans(*size.buffers);
  std::uint64_t index = 0;
  const bool is_block = find_in_span(span, front.reciprocal, block, &index);
  if (kAs == FreedAs::kPlain && is_block) stop_if_referred_to(size, span, index, block);
  // A mark of the span, and whatever is wrong, are for the slow door.
  if (front.checked_as != nullptr || ProgramGuard::is_needed() || !is_block || span.marked_pool() != &size)
      [[unlikely]]
    return give_back(front, block);
  fixed_pool_deallocate_at(front, span, index, block);
}

void deallocate_any(PoolHeader& pool, void* block) {
  FixedPoolState& size = static_cast<FixedPoolState&>(pool);
  const Span* const span = page_map.find(block);
  size_of(span) == &size ? give_back_at<FreedAs::kPlain>(size, *span, block) : give_back(*size.front, block);
}

std::size_t usable_size_of(PoolHeader& pool, const void* block) {
  const FixedPoolState& size = static_cast<const FixedPoolState&>(pool);
  if (size.poisons) os::unpoison(block, size.front->stride);
  return size.front->stride;
}

void* allocate_above(BufferPoolState& state, std::size_t bytes) {
  void* const block = state.heap != nullptr ? heap_allocate(state.heap, bytes, state.alignment) : nullptr;
  if (block == nullptr) state.refusals_above.fetch_add(1, std::memory_order_relaxed);
  return block;
}

void* allocate_any(BufferPoolState& state, std::size_t bytes, FixedPoolFront** front) {
  if (bytes > state.largest) return allocate_above(state, bytes);
  BufferSizeFront& size = state.size_for_any(bytes);
  *front = &size.front;
  return take(state, size, bytes);
}

LoneCount& lone_count_of(std::uint32_t* others) {
  return *reinterpret_cast<LoneCount*>(reinterpret_cast<char*>(others) - offsetof(LoneCount, others));
}

std::size_t allocate_batch_above(BufferPoolState& state, std::size_t bytes, std::size_t count,
                                 void** blocks) {
  std::size_t taken = 0;
  while (taken < count && (blocks[taken] = allocate_above(state, bytes)) != nullptr) ++taken;
  return taken;
}

// \returns how many blocks in a row, from the first on, are of the size. Stops the process when one of them
// has references. \param span the chunk of the first.
std::size_t count_of_size(const FixedPoolState& size, const Span* span, void* const* blocks,
                          std::size_t count) {
  const std::uint64_t reciprocal = size.front->reciprocal;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t index = 0;
    if (!find_in_span(*span, reciprocal, blocks[i], &index)) {  // mostly they lie in one chunk
      span = page_map.find(blocks[i]);
      if (size_of(span) != &size || !find_in_span(*span, reciprocal, blocks[i], &index)) return i;
    }
    stop_if_referred_to(size, *span, index, blocks[i]);
  }
  return count;
}

void give_back_batch(FixedPoolFront& front, void* const* blocks, std::size_t count) {
  if (front.checked_as != nullptr) [[unlikely]]
    for (std::size_t i = 0; i < count; ++i) tell_checkers(front, blocks[i]);
  fixed_pool_deallocate_batch(front, blocks, count);
}

// \returns the count of a live block; nullptr when it is malloc's, and so lies in no chunk.
std::uint32_t* references_of(const FixedPoolFront& front, const void* block) {
  if (front.mutex == nullptr) return nullptr;
  const Span* const span = page_map.find(block);
  std::uint64_t index = 0;
  find_in_span(*span, front.reciprocal, block, &index);
  return references_of(*span, index);
}

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

// Whether the count lies where that of a chunk's block does; true when there is no such block. If not, the
// buffer's chunk has gone back to the system, and another lies there.
bool counts_with(const FixedPoolState& size, const Span& span, const void* block,
                 const std::uint32_t* others) {
  std::uint64_t index = 0;
  return !find_in_span(span, size.front->reciprocal, block, &index) || references_of(span, index) == others;
}

// Whether a live shared buffer may lie where no chunk of buffers does.
bool may_have_lone_count(const Span* span) {
  const PoolHeader* const pool = pool_of(span);
  return (pool != nullptr && pool->operations == &kLargerBufferOperations) ||
         configuration.is_on(Option::kPoolsUseMalloc);
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

// Of a buffer whose chunk has gone back; which pool's it was, nothing tells any more.
[[noreturn, gnu::cold, gnu::noinline]] void stop_at_second_end(void* block) {
  os::fatal("double free", block);
}

// The name is that of the pool whose memory the address lies in now.
[[noreturn]] void stop(const char* what, void* block) {
  const PoolHeader* const pool = pool_of(page_map.find(block));
  if (pool == nullptr) os::fatal(what, block);
  os::fatal_in_pool(pool->name, what, block);
}

}  // namespace

void* buffer_pool_allocate(BufferPoolState* state, std::size_t bytes) noexcept {
  return bytes <= state->largest ? take(*state, state->size_for_any(bytes), bytes)
                                 : allocate_above(*state, bytes);
}

void buffer_pool_deallocate(BufferPoolState* state, void* block) noexcept {
  if (block == nullptr) return;
  const Span* const span = page_map.find(block);
  if (FixedPoolState* const size = size_of(span); size != nullptr && size->buffers == state) [[likely]]
    return give_back_at<FreedAs::kPlain>(*size, *span, block);
  if (heap_owns(state->heap, block)) return heap_deallocate(state->heap, block);
  for (unsigned i = 0; i < state->size_count; ++i)  // where they come from malloc
    if (fixed_pool_owns(state->sizes[i].front, block)) return give_back(state->sizes[i].front, block);
  os::fatal_in_pool(state->name(), "free of a pointer that is no block of the pool", block);
}

std::size_t buffer_pool_allocate_batch(BufferPoolState* state, std::size_t bytes, std::size_t count,
                                       void** blocks) noexcept {
  if (bytes > state->largest) return allocate_batch_above(*state, bytes, count, blocks);
  learn_spans(*state);
  BufferSizeFront& size = state->size_for_any(bytes);
  const std::size_t taken = fixed_pool_allocate_batch(size.front, count, blocks);
  if (size.front.checked_as != nullptr) [[unlikely]]
    for (std::size_t i = 0; i < taken; ++i) os::note_pool_allocation(size.front.checked_as, blocks[i], bytes);
  if (taken != count) size.refusals.fetch_add(1, std::memory_order_relaxed);
  return taken;
}

void buffer_pool_deallocate_batch(BufferPoolState* state, void* const* blocks, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count;) {
    const Span* const span = page_map.find(blocks[i]);
    FixedPoolState* const size = size_of(span);
    const bool is_own = size != nullptr && size->buffers == state;
    const std::size_t in_a_row = is_own ? count_of_size(*size, span, blocks + i, count - i) : 0;
    if (in_a_row != 0) {
      give_back_batch(*size->front, blocks + i, in_a_row);
      i += in_a_row;
    } else {
      buffer_pool_deallocate(state, blocks[i++]);
    }
  }
}

void buffer_pool_allocate_shared(BufferPoolState* state, std::size_t bytes, BufferHandle* handle) noexcept {
  FixedPoolFront* front = nullptr;
  if (bytes > UINT32_MAX) {
    state->refusals_above.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  void* const block = allocate_any(*state, bytes, &front);
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
  if (FixedPoolState* const size = size_of(span)) {
    if (!counts_with(*size, *span, block, handle.others)) [[unlikely]]
      stop_at_second_end(block);
    return give_back_at<FreedAs::kShared>(*size, *span, block);
  }
  if (!may_have_lone_count(span)) stop_at_second_end(block);
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

}  // namespace TARN_NAMESPACE::detail

namespace tarn::internal {

constexpr PoolOperations kBufferOperations{.kind = "buffer pool",
                                           .record = PoolRecord::kFixed,
                                           .deallocate = detail::deallocate_any,
                                           .usable_size = detail::usable_size_of,
                                           .move_sensitive = move_to_sensitive_heap,
                                           .use = use_of_fixed_pool,
                                           .release_unused = release_unused_of_shared_pool,
                                           .add_live = add_live_of_fixed_pool};

}  // namespace tarn::internal
