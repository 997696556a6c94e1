// Fixed pools for C: each call is that of the C++ object in the record.
#include "general/pools/pool_registry.h"
#include "pool/blocks/block_pool_state.h"
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
  const tarn::FixedPoolOptions full{.block_bytes = options.block_bytes,
                                    .alignment = c_api::value_or(options.alignment, 16),
                                    .blocks_per_chunk = options.blocks_per_chunk,
                                    .largest_count = c_api::limit_of(options.largest_count),
                                    .initial_count = options.initial_count,
                                    .name = options.name,
                                    .on_refusal = options.on_refusal,
                                    .context = options.context,
                                    .sensitive = options.sensitive != 0};
  if (!are_valid(full)) return c_api::fail(EINVAL);
  auto* const pool = c_api::make_record<tarn_fixed_pool>(threads);
  if (pool == nullptr) return nullptr;
  const bool is_made = pool->with([&](auto& place) {
    if (!detail::BlockPoolAccess::make(place, full)) return false;
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
