// Page of a block -> record of a thread's cache that takes the block.
//
// Threads: the thread that makes or ends a slab writes its entries; all threads read them. A block's entry
// does not change while the block is live, but to none when a heap gets its first limit.
#pragma once
#include <cstdint>

#include "tarn/detail/bins.h"

namespace TARN_NAMESPACE::detail {

/// One 16-bit entry per 64 KiB of address space: the record's place; 0 when the page is not a slab's. A page
/// behind the last one, as that of an address with a tag in its high bits, has no record. Where the address
/// space is limited there are no entries: then each free looks up its block in the page map. Each cache holds
/// a copy of this struct; the empty cache's copy is all zeros.
struct PageIndex {
  const std::uint16_t* places;
  std::uintptr_t page_count;

  TARN_INLINE RecordPlace record_of(const void* block) const {
    const std::uintptr_t page = reinterpret_cast<std::uintptr_t>(block) >> 16;
    if (page >= page_count) [[unlikely]]
      return RecordPlace::kNone;
    return RecordPlace{atomic_load(places + page, kRelaxed)};
  }
};

}  // namespace TARN_NAMESPACE::detail
