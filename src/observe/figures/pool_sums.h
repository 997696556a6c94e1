// The figures of all pools, those with equal labels summed: text formats for time series may have each label
// set once. The sums lie in the library's own records while they are written.
//
// Threads: one. No lock is held.
#pragma once
#include <cstddef>

#include "general/pools/pool_header.h"
#include "observe/figures/pool_fields.h"
#include "tarn/pool_use.h"

namespace tarn::internal {

class PoolSums {
 public:
  /// `use` points to the names here.
  struct Sum : PoolSum {
    char name[PoolHeader::kNameBytes], parent[PoolHeader::kNameBytes];
  };

  PoolSums() = default;
  ~PoolSums();
  PoolSums(const PoolSums&) = delete;
  PoolSums& operator=(const PoolSums&) = delete;

  /// Visits all pools. \returns false when memory is refused.
  bool collect();
  /// In the order in which their first pools were made; nullptr: there are none.
  const PoolSum* first() const { return first_; }

  /// Adds one pool. \returns false when memory is refused. \cost a step per sum.
  bool add(const PoolUse& use);

 private:
  PoolSum* first_ = nullptr;
  PoolSum** end_ = &first_;
};

}  // namespace tarn::internal
