#pragma once
#include "../../include/tarn/buffer_chain.h"
#include "tarn/buffer_pool.h"
#include "tarn/detail/record_seal.h"

namespace TARN_NAMESPACE::detail {

[[noreturn]] inline void stop_at_chain_end(const BufferChain* chain) noexcept {
  stop("more than a chain has", "a buffer chain", chain);
}

}  // namespace TARN_NAMESPACE::detail
