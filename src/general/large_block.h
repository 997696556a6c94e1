// A large block for a caller of the general pool: counted, and refused with errno.
#pragma once
#include <cstddef>

namespace tarn::internal {

/// \returns nullptr, with errno ENOMEM.
void* out_of_memory();

/// As allocate_large, for the calling thread. \returns nullptr with errno ENOMEM when memory is refused.
/// \post *is_zeroed tells that no page of the block has been written since the system gave it.
void* allocate_large_block(std::size_t size, std::size_t alignment, std::size_t room = 0,
                           bool* is_zeroed = nullptr);

}  // namespace tarn::internal
