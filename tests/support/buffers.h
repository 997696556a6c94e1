// What a buffer pool has live, of all its sizes.
#pragma once
#include "tarn/buffer_pool.h"

namespace tarn::test {

inline std::size_t live_count(const BufferPool& pool) {
  std::size_t count = pool.use_above().live_count;
  for (std::size_t i = 0; i < pool.size_count(); ++i) count += pool.use(i).live_count;
  return count;
}

}  // namespace tarn::test
