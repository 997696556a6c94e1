// The heap that serves tarn::allocate_sensitive.
#pragma once
#include <cstddef>

#include "general/pool_header.h"

namespace tarn::internal {

/// Moves a block of a sensitive pool that cannot grow in its own. \returns nullptr, with errno ENOMEM, when
/// memory is refused; the block stays then.
void* move_to_sensitive_heap(PoolHeader& pool, void* block, std::size_t usable, std::size_t size);

}  // namespace tarn::internal
