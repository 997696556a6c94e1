// As the library's own detail/live_walk.h: a step looks for the next live block anew.
#pragma once
#include <cstddef>

#include "tarn/detail/blocks.h"

namespace TARN_NAMESPACE::detail {

template <typename Visit>
void visit_live_blocks(BlockPoolState* pool, std::size_t, Visit& visit) {
  for (void* block = pool->next_live(nullptr); block != nullptr; block = pool->next_live(block)) visit(block);
}

}  // namespace TARN_NAMESPACE::detail
