// A shared fixed pool whose threads have magazines from the start, and not only when they take turns. Where
// free blocks are poisoned, and over malloc, there are none: there it is a SharedFixedPool.
#pragma once
#include "pool/thread_magazines.h"
#include "tarn/fixed_pool.h"

namespace tarn::test {

class PoolWithMagazines : public SharedFixedPool {
 public:
  explicit PoolWithMagazines(const FixedPoolOptions& options) : SharedFixedPool(options) {
    internal::make_magazines(detail::FixedPoolAccess::state(*this));
  }
  explicit PoolWithMagazines(std::size_t block_bytes)
      : PoolWithMagazines(FixedPoolOptions{.block_bytes = block_bytes}) {}
};

}  // namespace tarn::test
