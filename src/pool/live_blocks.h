// Visiting the live blocks of a pool, which its bits tell. \pre no other thread uses the pool meanwhile.
#pragma once
#include <cstddef>

#include "base/block_visitor.h"
#include "tarn/detail/abi.h"

namespace TARN_NAMESPACE::detail {
struct FixedPoolFront;
}

namespace tarn::internal {

/// Blocks of malloc are visited under their table's lock: `visit` must not allocate or free then.
void visit_live_blocks(detail::FixedPoolFront& front, const BlockVisitor& visit);

/// The oldest live block of a pool whose blocks are malloc's (system_blocks.h); nullptr: none, or the pool is
/// no such.
void* first_system_block(const detail::FixedPoolFront& front);

}  // namespace tarn::internal
