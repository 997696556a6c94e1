// Visiting the live blocks of a pool, which its bits tell. \pre no other thread uses the pool meanwhile.
#pragma once
#include <cstddef>

#include "tarn/detail/abi.h"

namespace TARN_NAMESPACE::detail {
struct FixedPoolFront;
}

namespace tarn::internal {

/// A function and what it needs to know; nothing is allocated for it.
struct BlockVisitor {
  void (*call)(void* block, void* context);
  void* context;
  void operator()(void* block) const { call(block, context); }
};

/// Blocks of malloc are visited under their table's lock: `visit` must not allocate or free then.
void visit_live_blocks(detail::FixedPoolFront& front, const BlockVisitor& visit);

/// The oldest live block of a pool whose blocks are malloc's (system_blocks.h); nullptr: none, or the pool is
/// no such.
void* first_system_block(const detail::FixedPoolFront& front);

}  // namespace tarn::internal
