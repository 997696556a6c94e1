// The entry points of Heap: making and ending a heap, its limits, calls that are no hits, and the operations
// that every pool has.
#include "tarn/heap.h"

#include <cerrno>
#include <cstring>

#include "base/units.h"
#include "general/large.h"
#include "general/options/configuration.h"
#include "general/options/memory_limits.h"
#include "general/options/setup.h"
#include "general/pools/pool_registry.h"
#include "general/pools/system_blocks.h"
#include "os/checker.h"
#include "os/fatal.h"
#include "os/locks/held_locks.h"
#include "page/memory/metadata.h"
#include "pool/heaps/heap_classes.h"
#include "pool/watched_blocks.h"

namespace TARN_NAMESPACE::detail {

using namespace internal;

namespace {

HeapState& state_of(PoolHeader& pool) { return static_cast<HeapState&>(pool); }

// \returns what is live, but for the heaps within.
HeapCounts own_live_of(HeapState& state, ReturnedPages& returned) {
  HeapCounts counts = count_in_classes(state, returned);
  os::LockGuard guard(state.mutex);
  counts.bytes += state.taken_bytes;
  counts.count += state.taken_count;
  counts.slab_bytes += state.pages.mapped().own();
  return counts;
}

// The function may use the heap: no lock is held, and a crossing inside of it does not call it again.
void note_soft_limit(HeapState& state) {
  if (state.on_soft_limit == nullptr || !state.account.take_crossing()) return;
  {
    os::LockGuard guard(state.mutex);
    if (state.is_calling_back) return;
    state.is_calling_back = true;
  }
  os::check_no_lock_is_held("while a function of the program's runs");
  state.on_soft_limit(*state.heap, state.context);
  os::LockGuard guard(state.mutex);
  state.is_calling_back = false;
}

// Before a limit that holds for several heaps refuses a block, what the threads of all of them have cached
// would have to be collected: so none of them caches anything.
void lie_in(HeapState& state, HeapState& around) {
  cache_nothing(around);
  state.may_have_classes = false;
  os::LockGuard guard(around.mutex);
  around.account.share();
  around.pages.mapped().share();
  around.heaps_within.fetch_add(1, std::memory_order_relaxed);
  state.around = &around;
  state.account.begin(&around.account);
  state.pages.mapped().begin(&around.pages.mapped());
}

void* refuse(HeapState& state) {
  state.refusals.fetch_add(1, std::memory_order_relaxed);
  return out_of_memory();
}

[[gnu::noinline]] void* allocate_slowly(HeapState* state, std::size_t size, std::size_t alignment) {
  if (!is_power_of_two(alignment)) {
    errno = EINVAL;
    return nullptr;
  }
  if (state == nullptr) return out_of_memory();
  if (size > kLargestRequest || alignment > kLargestRequest) return refuse(*state);
  void* block = nullptr;
  if (is_of_classes(*state, size, alignment)) {
    // The tiniest blocks are aligned to their size only: more asks for the next class.
    block = allocate_of_classes(*state, alignment > kTinyLimit && size <= kTinyLimit ? kTinyLimit + 1 : size);
  } else {
    block = take_within_limits([&] { return allocate_block(*state, size, alignment); });
    watched::note_allocated(*state, block, size);
  }
  return block != nullptr ? block : refuse(*state);
}

[[gnu::noinline]] void deallocate_slowly(HeapState& state, void* block) {
  if (Span* const slab = slab_of_classes(state, block)) return deallocate_of_classes(state, *slab, block);
  watched::notice_at_free();
  watched::note_freed(block);
  deallocate_block(state, block);
}

// 1, 2, 4, 8 or 16: blocks of more than kTinyLimit always have it, and tiny ones have it except 16.
bool is_usual(std::size_t alignment) {
  constexpr std::size_t kPowers = 1u << 1 | 1u << 2 | 1u << 4 | 1u << 8 | 1u << 16;
  return alignment <= 16 && (kPowers >> alignment & 1) != 0;
}

void* allocate_any(PoolHeader& pool, std::size_t size, std::size_t alignment) {
  return heap_allocate(&state_of(pool), size, alignment);
}

Span* find_span_any(PoolHeader& pool, const void* pointer) {
  HeapState& state = state_of(pool);
  if (!state.pages.lies_in_buffer()) return nullptr;
  os::LockGuard guard(state.mutex);
  return state.pages.find_in_buffer(pointer);
}

constexpr PoolOperations kOperations = [] {
  PoolOperations operations = operations_of_heap("heap");
  operations.allocate = allocate_any;
  operations.reallocate = reallocate_of_heap;
  operations.find_span = find_span_any;
  return operations;
}();

}  // namespace

HeapState* make_heap(Heap& heap, const HeapOptions& options, bool poisons) noexcept {
  HeapState* const around = options.parent != nullptr ? HeapAccess::state(*options.parent) : nullptr;
  if (options.parent != nullptr && around == nullptr) return nullptr;
  HeapState* const state = make_heap_state(options, kOperations, poisons);
  if (state == nullptr) return nullptr;
  state->heap = &heap;
  if (around != nullptr) lie_in(*state, *around);
  if (state->pages.poisons()) os::begin_checked_pool(state);
  pool_registry.add(*state);
  if (state->pages.lies_in_buffer()) pool_registry.add_callers_memory(*state);
  return state;
}

void end_heap(HeapState* state) noexcept {
  if (state == nullptr) return;
  if (state->heaps_within.load(std::memory_order_relaxed) != 0)
    os::fatal_in_pool(state->name, "end of a heap with a heap in it", state->heap);
  // Out of the registry before anything ends: no walk finds half a heap.
  pool_registry.remove(*state);
  if (state->pages.lies_in_buffer()) pool_registry.remove_callers_memory(*state);
  if (state->pages.poisons()) os::end_checked_pool(state);
  {
    ReturnedPages returned;
    end_classes(*state, returned);
  }
  end_pages(*state);
  if (state->around != nullptr) state->around->heaps_within.fetch_sub(1, std::memory_order_relaxed);
  metadata.end(state);
}

void* heap_allocate(HeapState* state, std::size_t size) noexcept {
  if (state != nullptr && size <= kMediumLimit) [[likely]]
    if (void* const block = take_at_once(*state, size)) [[likely]]
      return block;
  return allocate_slowly(state, size, size <= kTinyLimit ? kTinyLimit : 16);
}

void* heap_allocate(HeapState* state, std::size_t size, std::size_t alignment) noexcept {
  if (is_usual(alignment)) [[likely]]
    return heap_allocate(state, size <= kTinyLimit && alignment > kTinyLimit ? kTinyLimit + 1 : size);
  return allocate_slowly(state, size, alignment);
}

void heap_deallocate(HeapState* state, void* block) noexcept {
  if (state == nullptr) [[unlikely]]
    os::fatal("free of a block of a heap that has ended", block);
  if (put_at_once(*state, block)) [[likely]]
    return;
  deallocate_slowly(*state, block);
}

std::size_t heap_usable_size(HeapState* state, const void* block) noexcept {
  if (state == nullptr) return 0;
  if (const Span* const slab = slab_of_classes(*state, block))
    return block_bytes_of_classes(*state, *slab, block);
  return block_bytes(*state, block);
}

void* heap_reallocate(HeapState* state, void* block, std::size_t size) noexcept {
  if (block == nullptr) return heap_allocate(state, size);
  if (state == nullptr) os::fatal("use of a block of a heap that has ended", block);
  const std::size_t usable = heap_usable_size(state, block);
  if (resize_block(*state, block, usable, size)) return block;
  void* const moved = heap_allocate(state, size);
  if (moved == nullptr) return size <= usable ? block : nullptr;
  // Bytes beyond the requested ones are poisoned.
  if (state->pages.poisons()) os::unpoison(block, usable);
  std::memcpy(moved, block, usable < size ? usable : size);
  heap_deallocate(state, block);
  return moved;
}

void heap_clear(HeapState* state) noexcept {
  if (state == nullptr) return;
  {
    ReturnedPages returned;
    clear_classes(*state, returned);
  }
  clear_blocks(*state);
}

void heap_check_free(HeapState* state, const void* block) noexcept {
  if (state == nullptr) return;
  if (const Span* const slab = slab_of_classes(*state, block)) check_free_of_classes(*state, *slab, block);
}

bool heap_owns(const HeapState* state, const void* pointer) noexcept {
  if (state == nullptr) return false;
  return slab_of_classes(*state, pointer) != nullptr || owns_block(const_cast<HeapState&>(*state), pointer);
}

std::size_t heap_release_unused(HeapState* state) noexcept {
  if (state == nullptr) return 0;
  ReturnedPages returned;
  return release_unused_of_heap(*state, returned);
}

std::size_t heap_prewarm(HeapState* state, std::size_t bytes) noexcept {
  if (state == nullptr || !may_be_had(bytes)) return 0;
  std::size_t made = 0;
  take_within_limits([&] {
    if (made < bytes) made += prewarm_pages(*state, bytes - made);
    return made >= bytes;
  });
  return made;
}

HeapUse heap_use(HeapState* state) noexcept {
  if (state == nullptr) return {};
  ReturnedPages returned;
  const HeapCounts own = own_live_of(*state, returned);
  const bool is_around = state->heaps_within.load(std::memory_order_relaxed) != 0;
  // Counted at several moments, beside other threads: what is charged is no less at any of them.
  const std::size_t own_charged = state->account.own(), charged = state->account.charged();
  const std::size_t inner = is_around && charged > own_charged ? charged - own_charged : 0;
  const std::size_t inner_mapped = is_around ? state->pages.mapped().inner() : 0;
  const std::size_t live = std::min(own.bytes, own_charged) + inner;
  return {live, own.count, state->account.peak(), own.slab_bytes + inner_mapped, inner};
}

void heap_set_limits(HeapState* state, std::size_t soft_limit, std::size_t hard_limit) noexcept {
  if (state == nullptr) return;
  {
    os::LockGuard guard(state->mutex);
    state->account.set_limits(soft_limit, hard_limit);
  }
  apply_limits(*state);
}

}  // namespace TARN_NAMESPACE::detail

namespace tarn::internal {

using detail::HeapState;

HeapState* make_heap_state(const HeapOptions& options, const PoolOperations& operations, bool poisons) {
  set_up_once();
  const bool is_over_malloc = configuration.is_on(Option::kPoolsUseMalloc);
  auto* const state = metadata.make<HeapState>();
  if (state == nullptr) return nullptr;
  state->operations = &operations;
  state->is_sensitive = options.sensitive;
  state->is_over_malloc = is_over_malloc;
  state->wipes = state->wipes_freed();
  state->set_name(options.name.text(), "heap");
  state->account.set_limits(options.soft_limit, options.hard_limit);
  state->pages.mapped().set_limits(SIZE_MAX, options.mapped_limit);
  state->on_soft_limit = options.on_soft_limit;
  state->context = options.context;
  if (state->pages.begin(*state, options.buffer, options.buffer_bytes, poisons && !is_over_malloc)) {
    // Not over malloc, under checks, or with wipes at each free: these must see every call. Nor in a buffer
    // or below a limit of mapped bytes: slabs lie elsewhere, and are not charged to it.
    state->may_have_classes = !is_over_malloc && !poisons && !state->wipes &&
                              !state->pages.lies_in_buffer() && options.mapped_limit == SIZE_MAX;
    return state;
  }
  metadata.end(state);
  return nullptr;
}

void note_soft_limits(HeapState& state) {
  for (HeapState* heap = &state; heap != nullptr; heap = heap->around) detail::note_soft_limit(*heap);
}

void deallocate_of_heap(PoolHeader& pool, void* block) { heap_deallocate(&detail::state_of(pool), block); }

void* reallocate_of_heap(PoolHeader& pool, void* block, std::size_t size) {
  return heap_reallocate(&detail::state_of(pool), block, size);
}

std::size_t usable_size_in_heap(PoolHeader& pool, const void* block) {
  return heap_usable_size(&detail::state_of(pool), block);
}

PoolUse use_of_heap(PoolHeader& pool, ReturnedPages& returned) {
  HeapState& state = detail::state_of(pool);
  const HeapCounts own = detail::own_live_of(state, returned);
  PoolUse use{};
  use.kind = state.operations->kind;
  use.live_count = own.count;
  // Counted at another moment than the account is read: what is live is never more than what is charged.
  use.live_bytes = std::min(own.bytes, state.account.own());
  use.peak_live_bytes = state.account.peak();
  use.in_classes_bytes = std::min(own.in_classes_bytes, use.live_bytes);
  use.mapped_bytes = own.slab_bytes;
  use.waste_bytes = use.mapped_bytes > use.live_bytes ? use.mapped_bytes - use.live_bytes : 0;
  use.largest_count = PoolUse::kNoLimit;
  use.limit_bytes = state.account.hard_limit();
  use.mapped_limit_bytes = state.pages.mapped().hard_limit();
  use.inner_bytes = state.account.inner();
  use.refusals = state.refusals.load(std::memory_order_relaxed);
  use.parent = state.around != nullptr ? state.around->name : nullptr;
  return use;
}

std::size_t release_unused_of_heap(PoolHeader& pool, ReturnedPages& returned) {
  HeapState& state = detail::state_of(pool);
  const std::size_t before = returned.bytes();
  release_unused_of_classes(state, returned);
  const std::size_t bytes = returned.bytes() - before;
  os::LockGuard guard(state.mutex);
  return bytes + state.pages.release_unused(returned);
}

bool add_live_of_heap(PoolHeader& pool, std::uintptr_t& behind, LivePicture& picture) {
  HeapState& state = detail::state_of(pool);
  if (state.is_over_malloc) return system_blocks.add_live(state, behind, picture);
  os::LockGuard guard(state.mutex);
  return state.pages.add_live(behind, picture);
}

void validate(HeapState& state) {
  const Account& account = state.account;
  TARN_CHECK(account.own() <= account.charged());
  if (state.is_over_malloc) return state.pages.validate(0, 0);
  state.pages.validate(state.taken_bytes, state.taken_count);
  std::size_t own = state.taken_bytes;
  if (SlabOwner* const owner = state.owner.load())
    for_each_owner(*owner, [&](const SlabOwner& one) {
      os::LockGuard guard(const_cast<SlabOwner&>(one).mutex);
      validate_locked(one);
      own += one.accounted_bytes;
    });
  TARN_CHECK(own == account.own());
}

}  // namespace tarn::internal
