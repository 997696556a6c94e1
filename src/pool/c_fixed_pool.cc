// Fixed pools for C. The calls are those that the inlined functions of tarn/fixed_pool.h make.
#include "general/pool_registry.h"
#include "pool/c_api.h"
#include "pool/fixed_pool_state.h"
#include "tarn/pools.h"

namespace detail = tarn::detail;
using namespace tarn::internal;
using detail::PoolThreads;

struct tarn_fixed_pool {
  detail::FixedPoolFront front;
  PoolThreads threads;
  c_api::Life life{};

  bool is_alone() const { return threads == PoolThreads::kOne || detail::is_alone(front); }
  void check_user() {
    if constexpr (TARN_CHECK_THREADS != 0)
      if (threads == PoolThreads::kOne && front.user != &detail::thread_cache)
        detail::fixed_pool_check_user_slow(front);
  }
  void check_user_if_known() {
    if (front.user != nullptr) check_user();
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
  auto* const pool = c_api::make_record<tarn_fixed_pool>(detail::FixedPoolFront{}, threads);
  if (pool == nullptr) return nullptr;
  if (detail::make_fixed_pool(pool->front, full, threads, detail::kPoisonsFreeBlocks)) {
    pool_registry.note_off_stack(*pool->front.state);
    return pool;
  }
  c_api::end_record(pool);
  return c_api::fail(ENOMEM);
}

[[gnu::cold, gnu::noinline]] void* refuse(tarn_fixed_pool* pool, int error) {
  detail::fixed_pool_refused(pool->front);
  return c_api::fail(error);
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
  detail::end_fixed_pool(pool->front);
  c_api::end_record(pool);
}

void* tarn_fixed_pool_allocate(tarn_fixed_pool* pool) noexcept {
  pool->check_user();
  detail::FixedPoolFront& front = pool->front;
  void* const block =
      pool->is_alone() ? detail::fixed_pool_allocate(front) : detail::fixed_pool_allocate_shared(front);
  if (block == nullptr) [[unlikely]]
    return refuse(pool, ENOMEM);
  detail::annotate_allocation(front.checked_as, block, front.stride);
  return block;
}

void tarn_fixed_pool_deallocate(tarn_fixed_pool* pool, void* block) noexcept {
  pool->check_user();
  detail::FixedPoolFront& front = pool->front;
  if (block != nullptr) detail::annotate_deallocation(front.checked_as, block, front.stride);
  pool->is_alone() ? detail::fixed_pool_deallocate(front, block)
                   : detail::fixed_pool_deallocate_shared(front, block);
}

void* tarn_fixed_pool_allocate_run(tarn_fixed_pool* pool, std::size_t count) noexcept {
  pool->check_user();
  detail::FixedPoolFront& front = pool->front;
  if (count == 0 || count > front.state->blocks_per_chunk) return refuse(pool, EINVAL);
  void* const blocks = detail::fixed_pool_allocate_run(front, count);
  if (blocks == nullptr) return refuse(pool, ENOMEM);
  detail::annotate_allocation(front.checked_as, blocks, front.stride, count);
  return blocks;
}

void tarn_fixed_pool_deallocate_run(tarn_fixed_pool* pool, void* blocks, std::size_t count) noexcept {
  pool->check_user();
  if (blocks == nullptr) return;
  detail::annotate_deallocation(pool->front.checked_as, blocks, pool->front.stride, count);
  detail::fixed_pool_deallocate_run(pool->front, blocks, count);
}

std::size_t tarn_fixed_pool_allocate_batch(tarn_fixed_pool* pool, std::size_t count, void** blocks) noexcept {
  pool->check_user();
  detail::FixedPoolFront& front = pool->front;
  const std::size_t taken = detail::fixed_pool_allocate_batch(front, count, blocks);
  for (std::size_t i = 0; i < taken; ++i)
    detail::annotate_allocation(front.checked_as, blocks[i], front.stride);
  if (taken != count) refuse(pool, ENOMEM);
  return taken;
}

void tarn_fixed_pool_deallocate_batch(tarn_fixed_pool* pool, void* const* blocks,
                                      std::size_t count) noexcept {
  pool->check_user();
  detail::FixedPoolFront& front = pool->front;
  for (std::size_t i = 0; i < count; ++i)
    if (blocks[i] != nullptr) detail::annotate_deallocation(front.checked_as, blocks[i], front.stride);
  detail::fixed_pool_deallocate_batch(front, blocks, count);
}

int tarn_fixed_pool_owns(const tarn_fixed_pool* pool, const void* pointer) noexcept {
  return detail::fixed_pool_owns(pool->front, pointer) ? 1 : 0;
}

std::size_t tarn_fixed_pool_reserve(tarn_fixed_pool* pool, std::size_t count) noexcept {
  pool->check_user_if_known();
  return detail::fixed_pool_reserve(pool->front, count, false);
}

std::size_t tarn_fixed_pool_prewarm(tarn_fixed_pool* pool, std::size_t count) noexcept {
  pool->check_user_if_known();
  return detail::fixed_pool_reserve(pool->front, count, true);
}

std::size_t tarn_fixed_pool_release_unused(tarn_fixed_pool* pool) noexcept {
  pool->check_user();
  return detail::fixed_pool_release_unused(pool->front);
}

void tarn_fixed_pool_clear(tarn_fixed_pool* pool) noexcept {
  pool->check_user();
  detail::fixed_pool_clear(pool->front);
}

void tarn_fixed_pool_for_each_live(tarn_fixed_pool* pool, void (*visit)(void* block, void* context),
                                   void* context) noexcept {
  pool->check_user();
  const auto visit_one = [visit, context](void* block) { visit(block, context); };
  detail::visit_live_blocks(pool->front, pool->front.stride, visit_one);
}

std::size_t tarn_fixed_pool_block_bytes(const tarn_fixed_pool* pool) noexcept { return pool->front.stride; }

std::size_t tarn_fixed_pool_capacity(const tarn_fixed_pool* pool) noexcept {
  return detail::fixed_pool_capacity(pool->front);
}

std::size_t tarn_fixed_pool_live_count(const tarn_fixed_pool* pool) noexcept {
  return detail::fixed_pool_live_count(pool->front);
}
