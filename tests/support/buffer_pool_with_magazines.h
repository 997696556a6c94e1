// A buffer pool whose threads have magazines from the start. Where free blocks are poisoned, and over malloc,
// there are none: there it is a BufferPool.
#pragma once
#include "pool/buffer_pool_state.h"
#include "pool/thread_magazines.h"
#include "tarn/buffer_pool.h"

namespace tarn::test {

class BufferPoolWithMagazines : public BufferPool {
 public:
  explicit BufferPoolWithMagazines(const BufferPoolOptions& options = {}) : BufferPool(options) {
    detail::BufferPoolState& state = detail::BufferPoolAccess::state(*this);
    for (unsigned i = 0; i < state.size_count; ++i) internal::make_magazines(*state.sizes[i].front.state);
  }
};

}  // namespace tarn::test
