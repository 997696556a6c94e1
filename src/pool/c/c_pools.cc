// Fixed pools, buffer pools and shared buffers for C. Each call of a fixed pool is that of the C++ object in
// the record; a handle of C's is a BufferHandle, member for member.
#include "general/pools/pool_registry.h"
#include "pool/blocks/block_pool_state.h"
#include "pool/buffers/buffer_pool_state.h"
#include "pool/c/c_api.h"
#include "tarn/pools.h"

namespace detail = tarn::detail;
using namespace tarn::internal;

enum class PoolThreads : std::uint8_t { kOne, kAny };

namespace tarn::internal::c_api {

// Of the library alone: so a program has none of these pools' functions, with exceptions or checks.
struct OwnFront : tarn::detail::OwnPoolFront {};
struct SharedFront : tarn::detail::SharedPoolFront {};

}  // namespace tarn::internal::c_api

struct tarn_fixed_pool {
  PoolThreads threads;
  c_api::Life life{};
  union {
    tarn::BasicFixedPool<c_api::OwnFront> of_one;
    tarn::BasicFixedPool<c_api::SharedFront> of_any;
  };

  explicit tarn_fixed_pool(PoolThreads whose) : threads(whose) {}
  ~tarn_fixed_pool() {}

  /// \returns use(pool).
  template <typename Use>
  auto with(const Use& use) {
    return threads == PoolThreads::kOne ? use(of_one) : use(of_any);
  }
  template <typename Use>
  auto with(const Use& use) const {
    return threads == PoolThreads::kOne ? use(of_one) : use(of_any);
  }
};

namespace {

tarn_fixed_pool* create(const tarn_fixed_pool_options* given, std::size_t bytes, PoolThreads threads) {
  tarn_fixed_pool_options options;
  if (!c_api::read_options(options, given, bytes)) return nullptr;
  const tarn::FixedPoolOptions full{.name = options.name,
                                    .block_bytes = options.block_bytes,
                                    .alignment = c_api::value_or(options.alignment, 16),
                                    .blocks_per_chunk = options.blocks_per_chunk,
                                    .largest_count = c_api::limit_of(options.largest_count),
                                    .initial_count = options.initial_count,
                                    .on_refusal = options.on_refusal,
                                    .context = options.context,
                                    .sensitive = options.sensitive != 0};
  if (!are_valid(full)) return c_api::fail(EINVAL);
  auto* const pool = c_api::make_record<tarn_fixed_pool>(threads);
  if (pool == nullptr) return nullptr;
  const bool is_made = pool->with([&](auto& place) {
    if (!detail::BlockPoolAccess::make(place, full)) return false;
    // The record lies in the library's memory, but lies_on_this_stack() judges by distance and may have
    // erred.
    pool_registry.note_off_stack(detail::BlockPoolAccess::state(place));
    return true;
  });
  if (is_made) return pool;
  metadata.end(pool);
  return c_api::fail(ENOMEM);
}

}  // namespace

tarn_fixed_pool* tarn_fixed_pool_create(const tarn_fixed_pool_options* options, std::size_t bytes) noexcept {
  return create(options, bytes, PoolThreads::kOne);
}

tarn_fixed_pool* tarn_shared_fixed_pool_create(const tarn_fixed_pool_options* options,
                                               std::size_t bytes) noexcept {
  return create(options, bytes, PoolThreads::kAny);
}

void tarn_fixed_pool_destroy(tarn_fixed_pool* pool) noexcept {
  if (pool == nullptr) return;
  pool->life.end(pool);
  pool->with([]<typename Pool>(Pool& of) { of.~Pool(); });
  metadata.end(pool);
}

void* tarn_fixed_pool_allocate(tarn_fixed_pool* pool) noexcept {
  return c_api::or_no_memory(pool->with([](auto& of) { return of.allocate(); }));
}

void tarn_fixed_pool_deallocate(tarn_fixed_pool* pool, void* block) noexcept {
  pool->with([block](auto& of) { of.deallocate(block); });
}

void* tarn_fixed_pool_allocate_run(tarn_fixed_pool* pool, std::size_t count) noexcept {
  void* const blocks = pool->with([count](auto& of) { return of.allocate_run(count); });
  if (blocks != nullptr) return blocks;
  const bool is_possible = count != 0 && count <= pool->with([](auto& of) { return of.blocks_per_chunk(); });
  return c_api::fail(is_possible ? ENOMEM : EINVAL);
}

void tarn_fixed_pool_deallocate_run(tarn_fixed_pool* pool, void* blocks, std::size_t count) noexcept {
  pool->with([=](auto& of) { of.deallocate_run(blocks, count); });
}

std::size_t tarn_fixed_pool_allocate_batch(tarn_fixed_pool* pool, std::size_t count, void** blocks) noexcept {
  const std::size_t taken = pool->with([=](auto& of) { return of.allocate_batch(count, blocks); });
  if (taken != count) errno = ENOMEM;
  return taken;
}

void tarn_fixed_pool_deallocate_batch(tarn_fixed_pool* pool, void* const* blocks,
                                      std::size_t count) noexcept {
  pool->with([=](auto& of) { of.deallocate_batch(blocks, count); });
}

int tarn_fixed_pool_owns(const tarn_fixed_pool* pool, const void* pointer) noexcept {
  return pool->with([pointer](auto& of) { return of.owns(pointer); }) ? 1 : 0;
}

std::size_t tarn_fixed_pool_reserve(tarn_fixed_pool* pool, std::size_t count) noexcept {
  return pool->with([count](auto& of) { return of.reserve(count); });
}

std::size_t tarn_fixed_pool_prewarm(tarn_fixed_pool* pool, std::size_t count) noexcept {
  return pool->with([count](auto& of) { return of.prewarm(count); });
}

std::size_t tarn_fixed_pool_release_unused(tarn_fixed_pool* pool) noexcept {
  return pool->with([](auto& of) { return of.release_unused(); });
}

void tarn_fixed_pool_clear(tarn_fixed_pool* pool) noexcept {
  pool->with([](auto& of) { of.clear(); });
}

void tarn_fixed_pool_for_each_live(tarn_fixed_pool* pool, void (*visit)(void* block, void* context),
                                   void* context) noexcept {
  pool->with([=](auto& of) { of.for_each_live([=](void* block) { visit(block, context); }); });
}

std::size_t tarn_fixed_pool_block_bytes(const tarn_fixed_pool* pool) noexcept {
  return pool->with([](auto& of) { return of.block_bytes(); });
}

std::size_t tarn_fixed_pool_capacity(const tarn_fixed_pool* pool) noexcept {
  return pool->with([](auto& of) { return of.capacity(); });
}

std::size_t tarn_fixed_pool_live_count(const tarn_fixed_pool* pool) noexcept {
  return pool->with([](auto& of) { return of.live_count(); });
}

// -- Buffer pools ----------------------------------------------------------------------------------------

struct tarn_buffer_pool {
  detail::BufferPoolState* state;
  c_api::Life life{};
};

namespace {

using detail::BufferHandle;

BufferHandle handle_of(const tarn_shared_buffer& buffer) {
  return {buffer.data, buffer.count, buffer.size, buffer.offset};
}

tarn_shared_buffer buffer_of(const BufferHandle& handle) {
  return {handle.data, handle.others, handle.size, handle.offset};
}

static_assert(static_cast<int>(tarn::AtPoolEnd::kReport) == TARN_REPORT_LIVE &&
              static_cast<int>(tarn::AtPoolEnd::kDestroy) == TARN_END_LIVE &&
              static_cast<int>(tarn::AtPoolEnd::kHandOver) == TARN_HAND_OVER_LIVE);

struct Sizes {
  tarn::BufferSize of[detail::BufferPoolState::kMostSizes];
  std::size_t count = 0;
};

bool read_sizes(const tarn_buffer_pool_options& options, Sizes& sizes) {
  if (options.sizes == nullptr) return options.size_count == 0;
  if (options.size_count == 0 || options.size_count > detail::BufferPoolState::kMostSizes) return false;
  for (std::size_t i = 0; i < options.size_count; ++i)
    sizes.of[i] = {options.sizes[i].bytes, c_api::limit_of(options.sizes[i].largest_count)};
  sizes.count = options.size_count;
  return true;
}

// In C's options 0 is the usual value.
detail::BufferPoolState* make_state(const tarn_buffer_pool_options& options, const Sizes& sizes) {
  return detail::make_buffer_pool(
      {.name = options.name,
       .smallest_bytes = c_api::value_or(options.smallest_bytes, 64),
       .largest_bytes = c_api::value_or(options.largest_bytes, 16384),
       .sizes = {sizes.of, sizes.count},
       .alignment = c_api::value_or(options.alignment, 64),
       .largest_count = c_api::limit_of(options.largest_count),
       .largest_size_bytes = c_api::limit_of(options.largest_size_bytes),
       .chunk_bytes = options.chunk_bytes,
       .above = options.refuses_above != 0 ? tarn::AboveLargest::kRefuse : tarn::AboveLargest::kHeap,
       .largest_above_bytes = c_api::limit_of(options.largest_above_bytes),
       .at_end = static_cast<tarn::AtPoolEnd>(options.at_end),
       .on_refusal = options.on_refusal,
       .context = options.context,
       .sensitive = options.sensitive != 0},
      detail::kPoisonsFreeBlocks);
}

[[gnu::cold, gnu::noinline]] std::nullptr_t refuse(tarn_buffer_pool* pool) {
  detail::buffer_pool_refused(pool->state);
  return c_api::fail(ENOMEM);
}

}  // namespace

tarn_buffer_pool* tarn_buffer_pool_create(const tarn_buffer_pool_options* given, std::size_t bytes) noexcept {
  tarn_buffer_pool_options options;
  Sizes sizes;
  if (!c_api::read_options(options, given, bytes)) return nullptr;
  const bool is_end_known = options.at_end >= TARN_REPORT_LIVE && options.at_end <= TARN_HAND_OVER_LIVE;
  if (!read_sizes(options, sizes) || !is_end_known) return c_api::fail(EINVAL);
  auto* const pool = c_api::make_record<tarn_buffer_pool>(nullptr);
  if (pool == nullptr) return nullptr;
  pool->state = make_state(options, sizes);
  if (pool->state != nullptr) return pool;
  metadata.end(pool);
  return c_api::fail(EINVAL);
}

void tarn_buffer_pool_destroy(tarn_buffer_pool* pool) noexcept {
  if (pool == nullptr) return;
  pool->life.end(pool);
  detail::end_buffer_pool(pool->state);
  metadata.end(pool);
}

void* tarn_buffer_pool_allocate(tarn_buffer_pool* pool, std::size_t bytes) noexcept {
  void* const block = detail::buffer_pool_allocate(pool->state, bytes);
  if (block == nullptr) [[unlikely]]
    return refuse(pool);
  detail::profile_allocation(block, bytes);
  return block;
}

void tarn_buffer_pool_deallocate(tarn_buffer_pool* pool, void* block) noexcept {
  if (block == nullptr) return;
  detail::profile_deallocation(block);
  detail::buffer_pool_deallocate(pool->state, block);
}

int tarn_buffer_pool_owns(const tarn_buffer_pool* pool, const void* pointer) noexcept {
  return detail::buffer_pool_owns(pool->state, pointer) ? 1 : 0;
}

std::size_t tarn_buffer_pool_good_size(const tarn_buffer_pool* pool, std::size_t bytes) noexcept {
  return detail::buffer_pool_good_size(pool->state, bytes);
}

std::size_t tarn_buffer_pool_reserve(tarn_buffer_pool* pool, std::size_t bytes, std::size_t count) noexcept {
  return detail::buffer_pool_reserve(pool->state, bytes, count, false);
}

std::size_t tarn_buffer_pool_prewarm(tarn_buffer_pool* pool, std::size_t bytes, std::size_t count) noexcept {
  return detail::buffer_pool_reserve(pool->state, bytes, count, true);
}

std::size_t tarn_buffer_pool_release_unused(tarn_buffer_pool* pool) noexcept {
  return detail::buffer_pool_release_unused(pool->state);
}

std::size_t tarn_buffer_pool_size_count(const tarn_buffer_pool* pool) noexcept {
  return detail::buffer_pool_size_count(pool->state);
}

std::size_t tarn_buffer_pool_read_use(const tarn_buffer_pool* pool, std::size_t index, tarn_buffer_use* use,
                                      std::size_t bytes) noexcept {
  const tarn::BufferUse now = detail::buffer_pool_use(pool->state, index);
  return c_api::write_use<tarn_buffer_use>(
      {now.block_bytes, now.live_count, now.live_bytes, now.peak_live_bytes, now.capacity, now.mapped_bytes,
       now.refusals},
      use, bytes);
}

int tarn_buffer_pool_allocate_shared(tarn_buffer_pool* pool, std::size_t bytes,
                                     tarn_shared_buffer* buffer) noexcept {
  BufferHandle handle;
  detail::buffer_pool_allocate_shared(pool->state, bytes, &handle);
  *buffer = buffer_of(handle);
  if (handle.others == nullptr) {
    refuse(pool);
    return -1;
  }
  detail::profile_allocation(handle.data, bytes);
  return 0;
}

tarn_shared_buffer tarn_shared_buffer_add_reference(const tarn_shared_buffer* buffer) noexcept {
  if (buffer->count != nullptr) detail::add_reference(handle_of(*buffer));
  return *buffer;
}

tarn_shared_buffer tarn_shared_buffer_slice(const tarn_shared_buffer* buffer, std::size_t first,
                                            std::size_t bytes) noexcept {
  if (first > buffer->size || bytes > buffer->size - first) [[unlikely]]
    detail::stop_at_slice(handle_of(*buffer));
  tarn_shared_buffer part = tarn_shared_buffer_add_reference(buffer);
  part.data += first;
  part.offset += static_cast<std::uint32_t>(first);
  part.size = static_cast<std::uint32_t>(bytes);
  return part;
}

void tarn_shared_buffer_release(tarn_shared_buffer* buffer) noexcept {
  const BufferHandle ended = handle_of(*buffer);
  *buffer = {};
  if (ended.others != nullptr) detail::end_reference(ended);
}

std::size_t tarn_shared_buffer_reference_count(const tarn_shared_buffer* buffer) noexcept {
  return buffer->count != nullptr ? std::size_t{1} + __atomic_load_n(buffer->count, __ATOMIC_ACQUIRE) : 0;
}
