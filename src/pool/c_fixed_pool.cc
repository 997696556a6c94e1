// Fixed pools for C. The calls are those that the inlined functions of tarn/fixed_pool.h make.
#include "general/pool_registry.h"
#include "pool/block_pool_state.h"
#include "pool/c_api.h"
#include "tarn/pools.h"

namespace detail = tarn::detail;
using namespace tarn::internal;

enum class PoolThreads : std::uint8_t { kOne, kAny };

struct tarn_fixed_pool {
  PoolThreads threads;
  detail::OwnPoolFront of_one{};     // of a pool for one thread
  detail::SharedPoolFront of_any{};  // of one for any
  c_api::Life life{};

  /// \returns use(front).
  template <typename Use>
  auto with_front(const Use& use) {
    return threads == PoolThreads::kOne ? use(of_one) : use(of_any);
  }
  template <typename Use>
  auto with_front(const Use& use) const {
    return threads == PoolThreads::kOne ? use(of_one) : use(of_any);
  }
  void check_user() {
    if constexpr (TARN_CHECK_THREADS != 0)
      if (threads == PoolThreads::kOne && of_one.user != &detail::thread_cache)
        detail::block_pool_check_user_slow(of_one);
  }
  void check_user_if_known() {
    if (of_one.user != nullptr) check_user();
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
  const bool is_made = pool->with_front([&](auto& front) {
    if (!detail::make_pool(front, full, detail::kPoisonsFreeBlocks)) return false;
    pool_registry.note_off_stack(*front.state);
    return true;
  });
  if (is_made) return pool;
  c_api::end_record(pool);
  return c_api::fail(ENOMEM);
}

[[gnu::cold, gnu::noinline]] void* refuse(tarn_fixed_pool* pool, int error) {
  pool->with_front([](auto& front) { detail::block_pool_refused(front.state); });
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
  pool->with_front([](auto& front) { detail::end_block_pool(front.state); });
  c_api::end_record(pool);
}

void* tarn_fixed_pool_allocate(tarn_fixed_pool* pool) noexcept {
  pool->check_user();
  void* const block = pool->with_front([](auto& front) {
    void* const taken = detail::pool_allocate(front);
    if (taken != nullptr) detail::annotate_allocation(front.checked_as, taken, front.stride);
    return taken;
  });
  return block != nullptr ? block : refuse(pool, ENOMEM);
}

void tarn_fixed_pool_deallocate(tarn_fixed_pool* pool, void* block) noexcept {
  pool->check_user();
  pool->with_front([block](auto& front) {
    if (block != nullptr) detail::annotate_deallocation(front.checked_as, block, front.stride);
    detail::pool_deallocate(front, block);
  });
}

void* tarn_fixed_pool_allocate_run(tarn_fixed_pool* pool, std::size_t count) noexcept {
  pool->check_user();
  void* const blocks = pool->with_front([&](auto& front) -> void* {
    if (count == 0 || count > front.state->blocks_per_chunk) return nullptr;
    void* const taken = detail::block_pool_allocate_run(front.state, count);
    if (taken != nullptr) detail::annotate_allocation(front.checked_as, taken, front.stride, count);
    return taken;
  });
  if (blocks != nullptr) return blocks;
  const bool is_possible =
      count != 0 && count <= pool->with_front([](auto& front) { return front.state->blocks_per_chunk; });
  return refuse(pool, is_possible ? ENOMEM : EINVAL);
}

void tarn_fixed_pool_deallocate_run(tarn_fixed_pool* pool, void* blocks, std::size_t count) noexcept {
  pool->check_user();
  if (blocks == nullptr) return;
  pool->with_front([&](auto& front) {
    detail::annotate_deallocation(front.checked_as, blocks, front.stride, count);
    detail::block_pool_deallocate_run(front.state, blocks, count);
  });
}

std::size_t tarn_fixed_pool_allocate_batch(tarn_fixed_pool* pool, std::size_t count, void** blocks) noexcept {
  pool->check_user();
  const std::size_t taken = pool->with_front([&](auto& front) {
    std::size_t all = 0;
    while (all < count && (blocks[all] = detail::pool_allocate(front)) != nullptr) ++all;
    for (std::size_t i = 0; i < all; ++i)
      detail::annotate_allocation(front.checked_as, blocks[i], front.stride);
    return all;
  });
  if (taken != count) refuse(pool, ENOMEM);
  return taken;
}

void tarn_fixed_pool_deallocate_batch(tarn_fixed_pool* pool, void* const* blocks,
                                      std::size_t count) noexcept {
  pool->check_user();
  pool->with_front([&](auto& front) {
    for (std::size_t i = 0; i < count; ++i)
      if (blocks[i] != nullptr) detail::annotate_deallocation(front.checked_as, blocks[i], front.stride);
    for (std::size_t i = 0; i < count; ++i) detail::pool_deallocate(front, blocks[i]);
  });
}

int tarn_fixed_pool_owns(const tarn_fixed_pool* pool, const void* pointer) noexcept {
  return pool->with_front([pointer](auto& front) { return detail::block_pool_owns(front.state, pointer); })
             ? 1
             : 0;
}

std::size_t tarn_fixed_pool_reserve(tarn_fixed_pool* pool, std::size_t count) noexcept {
  pool->check_user_if_known();
  return pool->with_front(
      [count](auto& front) { return detail::block_pool_reserve(front.state, count, false); });
}

std::size_t tarn_fixed_pool_prewarm(tarn_fixed_pool* pool, std::size_t count) noexcept {
  pool->check_user_if_known();
  return pool->with_front(
      [count](auto& front) { return detail::block_pool_reserve(front.state, count, true); });
}

std::size_t tarn_fixed_pool_release_unused(tarn_fixed_pool* pool) noexcept {
  pool->check_user();
  return pool->with_front([](auto& front) { return detail::block_pool_release_unused(front.state); });
}

void tarn_fixed_pool_clear(tarn_fixed_pool* pool) noexcept {
  pool->check_user();
  pool->with_front([](auto& front) { detail::block_pool_clear(front.state); });
}

void tarn_fixed_pool_for_each_live(tarn_fixed_pool* pool, void (*visit)(void* block, void* context),
                                   void* context) noexcept {
  pool->check_user();
  const auto visit_one = [visit, context](void* block) { visit(block, context); };
  pool->with_front([&](auto& front) { detail::visit_live_blocks(front.state, front.stride, visit_one); });
}

std::size_t tarn_fixed_pool_block_bytes(const tarn_fixed_pool* pool) noexcept {
  return pool->with_front([](auto& front) { return front.stride; });
}

std::size_t tarn_fixed_pool_capacity(const tarn_fixed_pool* pool) noexcept {
  return pool->with_front([](auto& front) { return detail::block_pool_capacity(front.state); });
}

std::size_t tarn_fixed_pool_live_count(const tarn_fixed_pool* pool) noexcept {
  return pool->with_front([](auto& front) { return detail::block_pool_live_count(front.state); });
}
