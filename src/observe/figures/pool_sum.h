// The pools of one kind, name, block size and parent, as one: text formats for time series may have each
// label set once.
#pragma once
#include <cstddef>
#include <cstring>

#include "observe/figures/pool_fields.h"

namespace tarn::internal {

struct PoolSum {
  PoolSum* next;
  std::size_t pools;
  PoolUse use;
};

inline bool are_equal_names(const char* one, const char* other) {
  return one == other || (one != nullptr && other != nullptr && std::strcmp(one, other) == 0);
}

inline bool has_labels_of(const PoolUse& one, const PoolUse& other) {
  return one.block_bytes == other.block_bytes && are_equal_names(one.name, other.name) &&
         are_equal_names(one.kind, other.kind) && are_equal_names(one.parent, other.parent);
}

/// One pool without a limit leaves all together without one.
inline void add_pool(PoolSum& sum, const PoolUse& use) {
  ++sum.pools;
  for (const PoolField& field : kPoolFields) {
    std::size_t& figure = sum.use.*field.member;
    const std::size_t more = use.*field.member;
    figure = figure > PoolUse::kNoLimit - more ? PoolUse::kNoLimit : figure + more;
  }
}

}  // namespace tarn::internal
