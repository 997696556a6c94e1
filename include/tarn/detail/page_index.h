// Which record of a thread's cache takes a block back, by the page the block lies in.
//
// Threads: an entry is written by whoever makes or ends a slab and is read by all; a block's entry cannot
// change while the block is live.
#pragma once
#include <cstdint>

#include "tarn/detail/abi.h"

namespace TARN_NAMESPACE::detail {

/// One 16-bit entry per 64 KiB of address space: the byte offset of the record, 0 for whatever is not a block
/// of a slab. Where the address space is limited, the mask is 0 and the one entry is 0: then each free looks
/// its block up in the page map instead. Each cache holds a copy; that of the empty cache is empty.
struct PageIndex {
  const std::uint16_t* record_offsets;
  std::uintptr_t mask;

  [[gnu::always_inline]] std::size_t record_offset_of(const void* block) const {
    const std::uintptr_t page = reinterpret_cast<std::uintptr_t>(block) >> 16;
    return record_offsets[page & mask];
  }
};

}  // namespace TARN_NAMESPACE::detail
