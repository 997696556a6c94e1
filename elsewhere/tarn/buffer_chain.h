#pragma once
#include "tarn/buffer_pool.h"
#include "tarn/detail/record_seal.h"

#if defined(_WIN32)
struct iovec {
  void* iov_base;
  size_t iov_len;
};
#endif
#include "../../include/tarn/buffer_chain.h"

namespace TARN_NAMESPACE::detail {

[[noreturn]] inline void stop_at_chain_end(const BufferChain* chain) noexcept {
  stop("more than a chain has", "a buffer chain", chain);
}

}  // namespace TARN_NAMESPACE::detail
