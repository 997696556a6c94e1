// The blocks of buffer pools: how they are found by size and by address, taken and given back, and the counts
// of the shared ones.

#include <algorithm>

#include "base/units.h"
#include "central/slabs/slab.h"
#include "general/options/configuration.h"
#include "general/options/setup.h"
#include "os/checker.h"
#include "os/fatal.h"
#include "page/memory/metadata.h"
#include "page/spans/page_map.h"
#include "pool/buffers/buffer_pool_state.h"
#include "pool/heaps/heap_state.h"
#include "tarn/buffer_chain.h"

namespace TARN_NAMESPACE::detail {

using namespace internal;

namespace {

// \returns the pool of the size that a slab's blocks have; nullptr when the span is no such slab.
BufferSizeState* size_of(const Span* span) {
  const SlabOwner* const owner = owner_of_slab(span);
  PoolHeader* const pool = owner != nullptr && owner->is_of_pool ? owner->first_part->pool : nullptr;
  return pool != nullptr && pool->operations == &kBufferOperations ? static_cast<BufferSizeState*>(pool)
                                                                   : nullptr;
}

PoolHeader* pool_of(const Span* span) {
  if (BufferSizeState* const size = size_of(span)) return size;
  return span != nullptr ? static_cast<PoolHeader*>(span->unmarked_pool()) : nullptr;
}

void* take(SharedPoolFront& size, std::size_t bytes) {
  void* block = pop(own_cache(), size.place);
  if (block == nullptr) block = allocate_slow_from(*size.state, bytes);
  if (block != nullptr && size.checked_as != nullptr) [[unlikely]]
    os::note_pool_allocation(size.checked_as, block, bytes);
  return block;
}

// \returns the count of a block of a slab; nullptr for an address that is no block.
std::uint32_t* count_in(const Span& slab, const void* block) {
  BlockIndex index{};
  if (place_in_slab(slab, block, &index) != AddressIs::kBlock) return nullptr;
  return static_cast<std::uint32_t*>(slab.pool_data) + number_of(index);
}

// Frees a block that has no references any more.
void give_back(BufferSizeState& size, void* block) {
  if (size.is_checked) [[unlikely]] {
    os::note_pool_free(&size, block);
    if (size.poisons) os::poison(block, size.stride);
  }
  ThreadCache* const cache = own_cache();
  const RecordPlace place = record_of(cache, block);
  if (size.source != BlockPoolState::Source::kRecords || place != record_of_class(size.size_class) ||
      !push(cache, place, block)) [[unlikely]]
    block_pool_deallocate_slow(&size, block);
}

// The same of a plain one. \param span that of the block.
void give_back_plain(BufferSizeState& size, const Span& span, void* block) {
  const std::uint32_t* const count = count_in(span, block);
  if (count != nullptr && __atomic_load_n(count, __ATOMIC_RELAXED) != 0) [[unlikely]]
    size.stop("free of a buffer that handles refer to", block);
  give_back(size, block);
}

void deallocate_any(PoolHeader& pool, void* block) {
  BufferSizeState& size = static_cast<BufferSizeState&>(pool);
  const Span* const span = page_map.find(block);
  size_of(span) == &size ? give_back_plain(size, *span, block) : give_back(size, block);
}

void* allocate_above(BufferPoolState& state, std::size_t bytes) {
  void* const block = state.heap != nullptr ? heap_allocate(state.heap, bytes, state.alignment) : nullptr;
  if (block == nullptr) state.refusals_above.fetch_add(1, std::memory_order_relaxed);
  return block;
}

void* allocate_any(BufferPoolState& state, std::size_t bytes, BufferSizeState** size) {
  if (bytes > state.largest) return allocate_above(state, bytes);
  SharedPoolFront& front = state.size_for_any(bytes);
  *size = static_cast<BufferSizeState*>(front.state);
  return take(front, bytes);
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

std::uint32_t* make_lone_count(BufferPoolState& state, BufferSizeState* size, void* block) {
  const os::LockGuard guard(state.counts_mutex());
  // Counts are used again, for counts only: a handle that ends twice still reads one.
  LoneCount* count = state.free_counts;
  if (count != nullptr) {
    state.free_counts = count->next_free;
  } else {
    count = metadata.make<LoneCount>();
    if (count == nullptr) return nullptr;
    count->next = state.counts;
    count->pool = &state;
    state.counts = count;
  }
  count->size = size;
  count->block = block;
  count->others = 0;
  return &count->others;
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
  BufferSizeState* const size = count.size;
  {
    const os::LockGuard guard(pool.counts_mutex());
    if (count.block != block) os::fatal_in_pool(pool.name(), "double free", block);
    count.block = nullptr;
    count.next_free = pool.free_counts;
    pool.free_counts = &count;
  }
  size != nullptr ? give_back(*size, block) : heap_deallocate(pool.heap, block);
}

void* block_of(const BufferHandle& handle) { return handle.data - handle.offset; }

// The chunk of the buffer has gone back: which pool it was of is not known any more.
[[noreturn, gnu::cold, gnu::noinline]] void stop_at_second_end(void* block) {
  os::fatal("double free", block);
}

// Names the pool that the address belongs to now.
[[noreturn]] void stop(const char* what, void* block) {
  const PoolHeader* const pool = pool_of(page_map.find(block));
  if (pool == nullptr) os::fatal(what, block);
  os::fatal_in_pool(pool->name, what, block);
}

}  // namespace

void* buffer_pool_allocate(BufferPoolState* state, std::size_t bytes) noexcept {
  return bytes <= state->largest ? take(state->size_for_any(bytes), bytes) : allocate_above(*state, bytes);
}

void buffer_pool_deallocate(BufferPoolState* state, void* block) noexcept {
  if (block == nullptr) return;
  const Span* const span = page_map.find(block);
  if (BufferSizeState* const size = size_of(span); size != nullptr && size->buffers == state) [[likely]]
    return give_back_plain(*size, *span, block);
  if (heap_owns(state->heap, block)) return heap_deallocate(state->heap, block);
  for (unsigned i = 0; i < state->size_count; ++i)  // where they come from malloc
    if (block_pool_owns(state->sizes[i].state, block))
      return give_back(static_cast<BufferSizeState&>(*state->sizes[i].state), block);
  place_in_pool(*state->sizes[0].state, block, 1);  // stops with the name of the pool that has it
  os::fatal_in_pool(state->name(), "free of a pointer that is no block of the pool", block);
}

void buffer_pool_check_free(BufferPoolState* state, const void* block) noexcept {
  BufferSizeState* const size = size_of(page_map.find(block));
  if (size != nullptr && size->buffers == state) return block_pool_check_free(size, block, 1);
  if (block != nullptr) heap_check_free(state->heap, block);
}

std::size_t buffer_pool_allocate_batch(BufferPoolState* state, std::size_t bytes, std::size_t count,
                                       void** blocks) noexcept {
  if (bytes > state->largest) return allocate_batch_above(*state, bytes, count, blocks);
  SharedPoolFront& size = state->size_for_any(bytes);
  std::size_t taken = 0;
  while (taken < count && (blocks[taken] = take(size, bytes)) != nullptr) ++taken;
  return taken;
}

void buffer_pool_deallocate_batch(BufferPoolState* state, void* const* blocks, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i)
    if (!buffer_pool_deallocate_hit(*state, blocks[i])) buffer_pool_deallocate(state, blocks[i]);
}

void buffer_pool_allocate_shared(BufferPoolState* state, std::size_t bytes, BufferHandle* handle) noexcept {
  if (bytes > UINT32_MAX) {
    state->refusals_above.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  BufferSizeState* size = nullptr;
  void* const block = allocate_any(*state, bytes, &size);
  if (block == nullptr) return;
  // Blocks of slabs have their counts beside the slab; the heap's and malloc's get one each.
  std::uint32_t* others = nullptr;
  if (size != nullptr && !size->is_over_malloc()) others = count_in(*page_map.find(block), block);
  if (others == nullptr) others = make_lone_count(*state, size, block);
  if (others == nullptr) {
    state->refusals_above.fetch_add(1, std::memory_order_relaxed);
    return size != nullptr ? give_back(*size, block) : heap_deallocate(state->heap, block);
  }
  *handle = {static_cast<char*>(block), others, static_cast<std::uint32_t>(bytes), 0};
  if (__atomic_load_n(others, __ATOMIC_RELAXED) != 0) [[unlikely]]
    os::fatal_in_pool(state->name(), "copy of a handle whose buffer has ended", block);
}

// If the handle's count lies elsewhere, the slab of its buffer has gone back to the system.
void end_shared_buffer(const BufferHandle& handle) noexcept {
  void* const block = block_of(handle);
  const Span* const span = page_map.find(block);
  if (BufferSizeState* const size = size_of(span)) {
    if (count_in(*span, block) != handle.others) [[unlikely]]
      stop_at_second_end(block);
    return give_back(*size, block);
  }
  if (!may_have_lone_count(span)) stop_at_second_end(block);
  end_lone(block, handle.others);
}

// Checkers are told of what was asked for, and no more.
std::size_t shared_buffer_block_bytes(const BufferHandle& handle) noexcept {
  void* const block = block_of(handle);
  const std::size_t to_end = std::size_t{handle.offset} + handle.size;
  const Span* const span = page_map.find(block);
  if (const BufferSizeState* const size = size_of(span)) return size->is_checked ? to_end : size->stride;
  if (!may_have_lone_count(span) || configuration.is_on(Option::kPoolsUseMalloc)) return to_end;
  HeapState* const heap = lone_count_of(handle.others).pool->heap;
  if (heap->pages.poisons()) return to_end;
  return std::min<std::size_t>(heap_usable_size(heap, block), UINT32_MAX);  // what a handle can tell
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

constexpr PoolOperations kBufferOperations = [] {
  PoolOperations operations = operations_of_blocks("buffer pool");
  operations.deallocate = detail::deallocate_any;
  return operations;
}();

}  // namespace tarn::internal
