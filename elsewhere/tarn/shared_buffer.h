#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

#include "../../include/tarn/shared_buffer.h"
#include "tarn/detail/blocks.h"
#include "tarn/detail/mutex.h"

namespace TARN_NAMESPACE::detail {

inline void end_shared_buffer(const BufferHandle& handle) noexcept {
  delete handle.others;
  deallocate_slow(handle.data - handle.offset);
}
inline std::size_t shared_buffer_block_bytes(const BufferHandle& handle) noexcept {
  return BlockHead::of(handle.data - handle.offset).bytes;
}
[[noreturn]] inline void stop_at_reference_count(const BufferHandle& handle) noexcept {
  stop("wrong reference count", "a buffer pool", handle.data);
}
[[noreturn]] inline void stop_at_slice(const BufferHandle& handle) noexcept {
  stop("slice beyond the end", "a buffer pool", handle.data);
}

}  // namespace TARN_NAMESPACE::detail
