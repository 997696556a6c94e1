#pragma once
#include "../../include/tarn/object_pool.h"
#include "tarn/fixed_pool.h"

namespace TARN_NAMESPACE::detail {

/// What becomes of blocks that are live when their pool ends.
inline void end_live_blocks(PoolBlocks& pool, AtPoolEnd at_end, void (*destroy)(void* object) noexcept) {
  if (at_end == AtPoolEnd::kDestroy) {
    for (void* object = pool.next_live(nullptr); object != nullptr; object = pool.next_live(object))
      if (destroy != nullptr) destroy(object);
    return;
  }
  if (const std::size_t count = pool.live_count(); count != 0 && at_end == AtPoolEnd::kReport)
    std::fprintf(stderr, "tarn: %s '%s' ended before %zu of its blocks\n", pool.kind, pool.name.text(),
                 count);
  pool.hand_over();
}

struct ObjectPoolState : BlockPoolState {
  using BlockPoolState::BlockPoolState;
  AtPoolEnd at_end = AtPoolEnd::kReport;
  void (*destroy)(void* object) noexcept = nullptr;
};

inline ObjectPoolState* make_object_pool(const ObjectPoolOptions& options, const ObjectPoolType& type,
                                         SharedPoolFront& front) noexcept {
  auto* const pool = new ObjectPoolState("object pool", options.name, "object pool");
  pool->block_bytes = type.bytes;
  pool->alignment = type.alignment;
  pool->usable = options.initial_count;
  pool->at_end = options.at_end;
  pool->destroy = type.destroy;
  pool->is_sensitive = options.sensitive;
  front = {};
  front.stride = type.bytes;
  front.state = pool;
  return pool;
}
inline void end_object_pool(ObjectPoolState* pool) noexcept {
  end_live_blocks(*pool, pool->at_end, pool->destroy);
  delete pool;
}
inline std::size_t object_pool_prewarm(ObjectPoolState* pool, std::size_t count) noexcept {
  return block_pool_reserve(pool, count, true);
}

}  // namespace TARN_NAMESPACE::detail
