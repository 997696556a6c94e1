// Large blocks for callers of the general pool: counts the calls and sets errno on failure.
#pragma once
#include <cstddef>

namespace tarn::internal {

/// \returns nullptr; sets errno to ENOMEM.
void* out_of_memory();

/// Like allocate_large, for the calling thread. \returns nullptr with errno ENOMEM when memory is refused.
/// \post *is_zeroed: no page of the block was written since the system gave it.
void* allocate_large_block(std::size_t size, std::size_t alignment, std::size_t room = 0,
                           bool* is_zeroed = nullptr);

}  // namespace tarn::internal
