// Visits the live blocks of a pool, found by its bits. \pre no other thread uses the pool meanwhile.
#pragma once
#include <cstddef>

#include "base/block_visitor.h"
#include "tarn/detail/abi.h"

namespace TARN_NAMESPACE::detail {
struct FixedPoolFront;
}

namespace tarn::internal {

/// Blocks of malloc are visited under their table's lock: then `visit` must not allocate or free.
void visit_live_blocks(detail::FixedPoolFront& front, const BlockVisitor& visit);

/// \returns the oldest live block of a pool whose blocks are malloc's (system_blocks.h); nullptr: there is
/// none, or the pool's blocks are not malloc's.
void* first_system_block(const detail::FixedPoolFront& front);

}  // namespace tarn::internal
