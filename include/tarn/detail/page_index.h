// Page of a block -> record of a thread's cache that takes the block.
//
// Threads: the thread that makes or ends a slab writes its entries; all threads read them. A block's entry
// does not change while the block is live.
#pragma once
#include <cstdint>

#include "tarn/detail/abi.h"

namespace TARN_NAMESPACE::detail {

/// One 16-bit entry per 64 KiB of address space: the byte offset of the record; 0 when the page is not a
/// slab's. A page behind the last one, as that of an address with a tag in its high bits, has no record.
/// Where the address space is limited, the last page is 0 and the only entry is 0: then each free looks up
/// its block in the page map. Each cache holds a copy of this struct; the empty cache's copy is empty.
struct PageIndex {
  const std::uint16_t* record_offsets;
  std::uintptr_t last_page;

  [[gnu::always_inline]] std::size_t record_offset_of(const void* block) const {
    const std::uintptr_t page = reinterpret_cast<std::uintptr_t>(block) >> 16;
    if (page > last_page) [[unlikely]]
      return 0;
    return record_offsets[page];
  }
};

}  // namespace TARN_NAMESPACE::detail
