#pragma once
#include <vector>

#include "../../include/tarn/pool_use.h"
#include "tarn/detail/blocks.h"

namespace TARN_NAMESPACE {

namespace detail {

inline PoolUse use_of(const PoolBlocks& pool) {
  PoolUse use{};
  use.kind = pool.kind;
  use.name = pool.name.text();
  use.block_bytes = pool.block_bytes;
  use.live_count = pool.live.size();
  use.live_bytes = use.mapped_bytes = pool.live_bytes;
  use.peak_live_bytes = pool.peak_live_bytes;
  use.capacity = pool.block_bytes != 0 ? use.live_count : 0;
  use.largest_count = pool.most_count;
  use.limit_bytes = pool.most_bytes;
  use.mapped_limit_bytes = PoolUse::kNoLimit;
  use.refusals = pool.refusals;
  use.parent = pool.parent != nullptr ? pool.parent->name.text() : nullptr;
  return use;
}

}  // namespace detail

/// \pre no pool ends meanwhile.
inline void for_each_pool(void (*visit)(const PoolUse& use, void* context), void* context) {
  std::vector<PoolUse> uses;
  {
    const detail::PoolsGuard guard(detail::mutex_of_pools());
    for (const detail::PoolBlocks* pool : detail::all_pools()) uses.push_back(detail::use_of(*pool));
  }
  for (const PoolUse& use : uses) visit(use, context);
}

}  // namespace TARN_NAMESPACE
