#pragma once
#include "../../include/tarn/observe.h"

// No list of the general pool's blocks is kept: nothing is visited.
extern "C" {
inline int tarn_visit_blocks(tarn_block_visitor, void*) { return 0; }
inline int tarn_heap_visit_blocks(const tarn_heap*, tarn_block_visitor, void*) { return 0; }
inline void tarn_visit_pools(void (*)(const struct tarn_pool_use*, void*), void*) {}
inline void tarn_visit_metadata_ranges(void (*)(const void*, size_t, void*), void*) {}
}
namespace TARN_NAMESPACE::detail {
inline bool visit_blocks_of_heap(const Heap&, ::tarn_block_visitor, void*) { return true; }
}  // namespace TARN_NAMESPACE::detail
