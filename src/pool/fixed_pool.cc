// The entry points of FixedPool and SharedFixedPool: making and ending a pool, calls of its back end
// (fixed_pool_state.h), and the operations that every pool has.
#include "tarn/fixed_pool.h"

#include <algorithm>
#include <new>

#include "base/units.h"
#include "general/configuration.h"
#include "general/live_picture.h"
#include "general/memory_limits.h"
#include "general/pool_registry.h"
#include "general/setup.h"
#include "general/system_blocks.h"
#include "os/checker.h"
#include "os/held_locks.h"
#include "os/owner_lock.h"
#include "page/metadata.h"
#include "pool/sensitive_heap.h"
#include "pool/thread_magazines.h"
#include "pool/watched_blocks.h"
#include "tarn/detail/live_walk.h"

namespace TARN_NAMESPACE::detail {

using namespace internal;

namespace {

constexpr std::size_t kLargestBlock = 256 * 1024;
constexpr std::size_t kLargestAlignment = 65536;
constexpr std::size_t kLeastStride = 8;
constexpr std::size_t kManyFreed = 16;  // blocks that are freed at once as bits

FixedPoolState& state_of(PoolHeader& pool) { return static_cast<FixedPoolState&>(pool); }

std::size_t free_count(const FixedPoolState& state) {
  const ThreadMagazines* const magazines = magazines_of(state);
  return state.ring.free_count() + (magazines != nullptr ? magazines->count() : 0);
}

std::size_t release_unused(FixedPoolState& state, ReturnedPages& returned) {
  const WholePoolGuard guard(*state.front);
  if (state.walks != 0) return 0;
  if (ThreadMagazines* const magazines = magazines_of(state)) magazines->empty();
  return state.back_end->release_unused(state, returned);
}

/// Another thread may end a pool as soon as its last block is free: a free touches it no more then.
enum class Call : bool { kAllocates, kFrees };

/// Calls use() under the pool's mutex, unless there are magazines. \returns these, or nullptr.
template <Call kCall, typename Use>
[[gnu::noinline]] ThreadMagazines* use_without_magazines(FixedPoolFront& front, Use use) {
  FixedPoolState& state = *front.state;
  bool is_busy = false;
  {
    const ProgramGuard guard(front.mutex);
    if (ThreadMagazines* const magazines = magazines_of(state)) return magazines;
    if (state.may_have_magazines && !os::is_only_thread()) {
      if constexpr (kCall == Call::kAllocates) {
        is_busy = state.shared_use.note_allocation();
      } else {
        state.shared_use.note_free();
      }
    }
    use();
  }
  if (is_busy) make_magazines(state);
  return nullptr;
}

// Those of the word whose ones are handed out next, which is stored once. \returns how many.
std::size_t take_ones(FixedPoolFront& front, std::size_t count, void** blocks) {
  const std::uint64_t bits = *front.word;
  if (bits == 0) return 0;
  const std::size_t ones = count_ones(bits);
  const std::uint64_t taken = ones <= count ? bits : bitmap::lowest_ones(bits, static_cast<unsigned>(count));
  char* const start = front.word_start;
  const std::size_t stride = front.stride;
  void** end = blocks;
  bitmap::for_each_one(taken, [&](unsigned position) { *end++ = start + position * stride; });
  bitmap::store(front.word, bits & ~taken);
  return ones <= count ? ones : count;
}

// The blocks freed last, then the ones of each word.
std::size_t allocate_several(FixedPoolFront& front, std::size_t count, void** blocks) {
  std::size_t taken = 0, freed = 0;
  while (taken < count) {
    const std::size_t before = taken;
    for (detail::FreedBlock* top = front.freed_top; taken < count && top != front.freed;)
      blocks[taken++] = take_freed(front, --top);
    freed += taken - before;
    taken += take_ones(front, count - taken, blocks + taken);
    if (taken == count) break;
    void* const block = front.state->back_end->allocate(*front.state);
    if (block == nullptr) break;
    blocks[taken++] = block;
  }
  front.state->note_taken(taken - freed);
  return taken;
}

// Few of them stay at hand.
void deallocate_several(FixedPoolFront& front, void* const* blocks, std::size_t count) {
  if (count >= kManyFreed) return front.state->back_end->deallocate_batch(*front.state, blocks, count);
  for (std::size_t i = 0; i < count; ++i) fixed_pool_deallocate(front, blocks[i]);
}

// \pre the pool had no magazines a moment ago.
[[gnu::noinline]] void* allocate_without_magazines(FixedPoolFront& front) {
  void* block = nullptr;
  ThreadMagazines* magazines = nullptr;
  take_within_limits([&] {
    magazines = use_without_magazines<Call::kAllocates>(front, [&] { block = take_alone(*front.state); });
    return block != nullptr || magazines != nullptr;
  });
  if (magazines != nullptr) return magazines->allocate();
  if (block == nullptr) front.state->note_refusal();
  watched::note_allocated(*front.state, block, front.stride);
  return block;
}

[[gnu::noinline]] void deallocate_without_magazines(FixedPoolFront& front, void* block) {
  watched::heed_at_free();
  ThreadMagazines* const magazines =
      use_without_magazines<Call::kFrees>(front, [&] { fixed_pool_deallocate(front, block); });
  if (magazines != nullptr) magazines->deallocate(block);
}

void deallocate_any(PoolHeader& pool, void* block) {
  FixedPoolState& state = state_of(pool);
  if (state.front->user != nullptr && state.front->user != &thread_cache)
    fixed_pool_check_user_slow(*state.front);
  if (state.front->checked_as != nullptr) os::note_pool_free(state.front->checked_as, block);
  if (state.poisons) os::poison(block, state.front->stride);
  fixed_pool_deallocate_shared(*state.front, block);
}

std::size_t usable_size_of(PoolHeader& pool, const void*) { return state_of(pool).front->stride; }

constexpr PoolOperations operations_as(const char* kind) {
  return {.kind = kind,
          .record = PoolRecord::kFixed,
          .deallocate = deallocate_any,
          .usable_size = usable_size_of,
          .move_sensitive = move_to_sensitive_heap,
          .use = use_of_fixed_pool,
          .release_unused = release_unused_of_shared_pool,
          .add_live = add_live_of_fixed_pool};
}

constexpr PoolOperations kOperations = operations_as("fixed pool");
constexpr PoolOperations kOperationsOfObjects = operations_as(kObjectPoolKind);

/// What kind of pool a record is made for.
struct Purpose {
  PoolThreads threads;
  BufferPoolFront* buffers;  // nullptr: no buffer pool
  TakenBlocks* taken;        // of a buffer pool
  const PoolOperations& operations;
};

bool make(FixedPoolFront& front, const FixedPoolOptions& options, bool poisons, const Purpose& purpose) {
  if (!are_valid(options)) return false;
  set_up_once();
  void* const record = metadata.allocate(sizeof(FixedPoolState));
  if (record == nullptr) return false;
  const bool is_over_malloc = configuration.is_on(Option::kPoolsUseMalloc);
  const std::size_t alignment = options.alignment < kLeastStride ? kLeastStride : options.alignment;
  front = {};
  auto* const state = new (record) FixedPoolState(front);
  front.stride = round_up(options.block_bytes, alignment);
  front.reciprocal = ~std::uint64_t{0} / front.stride + 1;
  front.state = state;
  front.freed_runs = &FreedRuns::none();
  if (poisons) front.checked_as = state;
  state->operations = &purpose.operations;
  state->buffers = purpose.buffers;
  state->taken = purpose.taken;
  state->is_sensitive = options.sensitive;
  state->unwiped_back_end = is_over_malloc ? &kFixedPoolOverMalloc : &kFixedPoolOverChunks;
  state->back_end = options.sensitive ? &kWipedFixedPool : state->unwiped_back_end;
  state->set_name(options.name, "fixed pool");
  const bool is_on_stack = purpose.buffers == nullptr && lies_on_this_stack(&front);
  state->stack_owner = is_on_stack ? &thread_cache : nullptr;
  state->alignment = alignment;
  state->blocks_per_chunk = options.blocks_per_chunk != 0
                                ? static_cast<std::uint32_t>(options.blocks_per_chunk)
                                : usual_chunk_count(front.stride);
  state->largest_count = options.largest_count;
  state->at_cap = options.at_cap;
  state->is_checked = poisons;
  state->poisons = poisons && !is_over_malloc;
  // Checkers see more wrong uses of a block that stays free for long.
  const bool has_hits = !poisons && !is_over_malloc && !options.sensitive;
  state->has_hits = has_hits;
  if (has_hits) front.freed_end = state->freed + FixedPoolState::kFreedBlocks;
  state->may_have_magazines = purpose.threads == PoolThreads::kAny && has_hits;
  if (state->may_have_magazines) os::OwnerLock::prepare();
  // Over malloc, which may be ours, no lock is held: the counts are atomic.
  front.mutex = purpose.threads == PoolThreads::kAny && !is_over_malloc ? &state->mutex : nullptr;
  state->on_refusal = options.on_refusal;
  state->context = options.context;
  if (poisons) os::begin_checked_pool(state);
  pool_registry.add(*state);
  if (fixed_pool_reserve(front, options.initial_count, false) >= options.initial_count) return true;
  end_fixed_pool(front);
  return false;
}

}  // namespace

bool make_fixed_pool(FixedPoolFront& front, const FixedPoolOptions& options, PoolThreads threads,
                     bool poisons) noexcept {
  return make(front, options, poisons, {threads, nullptr, nullptr, kOperations});
}

void end_fixed_pool(FixedPoolFront& front) noexcept {
  FixedPoolState& state = *front.state;
  pool_registry.remove(state);
  if (state.is_checked) os::end_checked_pool(&state);
  ReturnedPages returned;
  state.back_end->end(state, returned);
  if (ThreadMagazines* const magazines = magazines_of(state)) magazines->end();
  metadata.free(&state, sizeof(FixedPoolState));
}

void* fixed_pool_allocate_slow(FixedPoolFront& front) noexcept {
  FixedPoolState& state = *front.state;
  if (state.has_nothing_at_hand) adjust_to_watch(state);
  void* const block = take_within_limits([&state] { return state.back_end->allocate(state); });
  if (block == nullptr) state.note_refusal();
  watched::note_allocated(state, block, front.stride);
  adjust_to_watch(state);
  return block;
}

void fixed_pool_deallocate_slow(FixedPoolFront& front, void* block) noexcept {
  if (block == nullptr) return;
  if (front.mutex == nullptr || !ProgramGuard::is_needed()) watched::heed_at_free();
  watched::note_freed(block);
  adjust_to_watch(*front.state);
  front.state->back_end->deallocate(*front.state, block);
}

void* fixed_pool_allocate_shared(FixedPoolFront& front) noexcept {
  ThreadMagazines* const magazines = magazines_of(*front.state);
  return magazines != nullptr ? magazines->allocate() : allocate_without_magazines(front);
}

void fixed_pool_deallocate_shared(FixedPoolFront& front, void* block) noexcept {
  if (block == nullptr) return;
  ThreadMagazines* const magazines = magazines_of(*front.state);
  magazines != nullptr ? magazines->deallocate(block) : deallocate_without_magazines(front, block);
}

void* fixed_pool_allocate_by_call(FixedPoolFront& front, PoolThreads threads) noexcept {
  return threads == PoolThreads::kOne || is_alone(front) ? fixed_pool_allocate(front)
                                                         : fixed_pool_allocate_shared(front);
}

void fixed_pool_deallocate_by_call(FixedPoolFront& front, PoolThreads threads, void* block) noexcept {
  threads == PoolThreads::kOne || is_alone(front) ? fixed_pool_deallocate(front, block)
                                                  : fixed_pool_deallocate_shared(front, block);
}

std::size_t fixed_pool_allocate_batch(FixedPoolFront& front, std::size_t count, void** blocks) noexcept {
  if (ThreadMagazines* const magazines = magazines_of(*front.state))
    return magazines->allocate_batch(count, blocks);
  std::size_t taken = 0;
  ThreadMagazines* magazines = nullptr;
  take_within_limits([&] {
    magazines = use_without_magazines<Call::kAllocates>(
        front, [&] { taken += allocate_several(front, count - taken, blocks + taken); });
    return taken == count || magazines != nullptr;
  });
  for (std::size_t i = 0; i < taken; ++i) watched::note_allocated(*front.state, blocks[i], front.stride);
  if (magazines != nullptr) return taken + magazines->allocate_batch(count - taken, blocks + taken);
  if (taken != count) front.state->note_refusal();
  return taken;
}

void fixed_pool_deallocate_batch(FixedPoolFront& front, void* const* blocks, std::size_t count) noexcept {
  watched::heed_at_free();
  watched::note_freed(blocks, count);
  ThreadMagazines* magazines = magazines_of(*front.state);
  if (magazines == nullptr)
    magazines = use_without_magazines<Call::kFrees>(front, [&] { deallocate_several(front, blocks, count); });
  if (magazines != nullptr) magazines->deallocate_batch(blocks, count);
}

bool fixed_pool_owns(const FixedPoolFront& front, const void* pointer) noexcept {
  return front.state->back_end->owns(*front.state, pointer);
}

std::size_t fixed_pool_reserve(FixedPoolFront& front, std::size_t count, bool populates) noexcept {
  FixedPoolState& state = *front.state;
  std::size_t usable = 0;
  // More than there can be is not tried chunk by chunk; as many as the cap allows are.
  const bool is_possible = may_be_had(std::min(count, state.largest_count), front.stride);
  const std::size_t wanted = is_possible ? count : 0;
  take_within_limits([&] {
    const WholePoolGuard guard(front);
    if (ThreadMagazines* const magazines = magazines_of(state)) magazines->empty();
    usable = state.back_end->reserve(state, wanted, populates);
    return usable >= wanted;
  });
  return usable;
}

std::size_t fixed_pool_release_unused(FixedPoolFront& front) noexcept {
  ReturnedPages returned;
  return release_unused(*front.state, returned);
}

void fixed_pool_clear(FixedPoolFront& front) noexcept {
  FixedPoolState& state = *front.state;
  const WholePoolGuard guard(front);
  if (ThreadMagazines* const magazines = magazines_of(state)) magazines->empty();
  if (state.is_checked) {
    os::end_checked_pool(&state);
    os::begin_checked_pool(&state);
  }
  state.back_end->clear(state);
}

std::size_t fixed_pool_capacity(const FixedPoolFront& front) noexcept { return front.state->capacity; }
std::size_t fixed_pool_usable_count(const FixedPoolFront& front) noexcept {
  const WholePoolGuard guard(front);
  return free_count(*front.state);
}
std::size_t fixed_pool_live_count(const FixedPoolFront& front) noexcept {
  const WholePoolGuard guard(front);
  return front.state->capacity - free_count(*front.state);
}
std::size_t fixed_pool_blocks_per_chunk(const FixedPoolFront& front) noexcept {
  return front.state->blocks_per_chunk;
}
std::size_t fixed_pool_alignment(const FixedPoolFront& front) noexcept { return front.state->alignment; }
std::size_t fixed_pool_chunk_count(const FixedPoolFront& front) noexcept {
  const ProgramGuard guard(front.mutex);
  return front.state->ring.count();
}
bool fixed_pool_throws(const FixedPoolFront& front) noexcept { return front.state->at_cap == AtCap::kThrow; }

void fixed_pool_refused(FixedPoolFront& front) noexcept {
  if (front.state->on_refusal == nullptr) return;
  os::check_no_lock_is_held("while a function of the program's runs");
  front.state->on_refusal(front.state->context);
}

void fixed_pool_check_user_slow(FixedPoolFront& front) noexcept {
  if (front.user != nullptr)
    os::fatal_in_pool(front.state->name, "use of a single-thread pool by a second thread", &front);
  front.user = &thread_cache;
}

}  // namespace TARN_NAMESPACE::detail

namespace tarn::internal {

using detail::FixedPoolState;

void adjust_to_watch(FixedPoolState& state) {
  const bool is_watched = is_disturbed();
  if (!is_watched && !state.has_nothing_at_hand) return;
  if (state.unwiped_back_end != &kFixedPoolOverChunks ||
      (state.front->mutex != nullptr && detail::ProgramGuard::is_needed()))
    return;
  is_watched ? keep_nothing_at_hand(state) : keep_freed_at_hand(state);
}

bool are_valid(const FixedPoolOptions& options) {
  return options.block_bytes != 0 && options.block_bytes <= detail::kLargestBlock &&
         is_power_of_two(options.alignment) && options.alignment <= detail::kLargestAlignment &&
         options.blocks_per_chunk <= PoolChunk::kLargestCount &&
         options.initial_count <= options.largest_count;
}

bool make_pool_of_size(detail::FixedPoolFront& front, TakenBlocks& taken, const FixedPoolOptions& options,
                       bool poisons, detail::BufferPoolFront& buffers, const PoolOperations& operations) {
  return detail::make(front, options, poisons, {detail::PoolThreads::kAny, &buffers, &taken, operations});
}

bool make_pool_of_objects(detail::FixedPoolFront& front, const FixedPoolOptions& options, bool poisons) {
  return detail::make(front, options, poisons,
                      {detail::PoolThreads::kAny, nullptr, nullptr, detail::kOperationsOfObjects});
}

// Of a pool of one thread, the thread goes on meanwhile: a block that it has all the time keeps its bit.
bool add_live_of_fixed_pool(PoolHeader& pool, std::uintptr_t& behind, LivePicture& picture) {
  const FixedPoolState& state = detail::state_of(pool);
  if (state.back_end == &kFixedPoolOverMalloc) return system_blocks.add_live(state, behind, picture);
  const WholePoolGuard whole(*state.front);
  os::LockGuard guard(pool.structure);
  const bool has_magazines = magazines_of(state) != nullptr;
  for (std::uint32_t slot = state.ring.slot_behind(behind); slot < state.ring.count(); ++slot) {
    PoolChunk& chunk = state.ring[slot];
    if (picture.room() < chunk.word_count) return true;
    const detail::LivenessInBits bits{chunk.words()};
    const detail::LivenessInBytes bytes{has_magazines ? live_bytes(*chunk.span) : nullptr};
    const std::size_t stride = state.front->stride;
    picture.add_blocks({chunk.span->start, 0, stride, static_cast<std::uint32_t>(stride), SizeClass::kNone},
                       chunk.block_count, [&](std::uint32_t word) {
                         const std::uint32_t first = word * 64, left = chunk.block_count - first;
                         const std::uint32_t count = left < 64 ? left : 64;
                         return has_magazines ? bytes.bits(first, count) : bits.bits(first, count);
                       });
    behind = address_of(chunk.span->start);
  }
  return false;
}

PoolUse use_of_fixed_pool(PoolHeader& pool, ReturnedPages&) {
  FixedPoolState& state = detail::state_of(pool);
  os::LockGuard guard(state.structure);
  const std::size_t capacity = state.capacity, free = detail::free_count(state), stride = state.front->stride;
  const std::size_t live = capacity > free ? capacity - free : 0;  // blocks may move while they are counted
  const std::atomic<std::size_t>& most = state.taken != nullptr ? state.taken->peak : state.peak;
  const std::size_t peak = most.load(std::memory_order_relaxed), mapped = state.mapped_bytes;
  PoolUse use{};
  use.kind = state.operations->kind;
  use.block_bytes = stride;
  use.live_count = live;
  use.live_bytes = live * stride;
  use.peak_live_bytes = (peak > live ? peak : live) * stride;
  use.mapped_bytes = mapped;
  use.waste_bytes = mapped > use.live_bytes ? mapped - use.live_bytes : 0;
  use.capacity = capacity;
  // A cap beyond all memory is none.
  const bool has_cap = state.largest_count < PoolUse::kNoLimit / stride;
  use.largest_count = has_cap ? state.largest_count : PoolUse::kNoLimit;
  use.limit_bytes = has_cap ? state.largest_count * stride : PoolUse::kNoLimit;
  use.mapped_limit_bytes = PoolUse::kNoLimit;
  use.refusals = state.refusals.load(std::memory_order_relaxed);
  return use;
}

std::size_t release_unused_of_shared_pool(PoolHeader& pool, ReturnedPages& returned) {
  FixedPoolState& state = detail::state_of(pool);
  return state.front->mutex != nullptr ? detail::release_unused(state, returned) : 0;
}

}  // namespace tarn::internal
