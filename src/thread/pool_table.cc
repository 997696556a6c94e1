#include "thread/pool_table.h"

#include <bit>
#include <cstring>

#include "page/metadata.h"

namespace tarn::internal {

bool PoolTable::add(std::uint32_t slot, std::uint64_t serial, void* record) {
  if (slot >= size_) {
    const std::uint32_t size = slot < kFirstSize ? kFirstSize : std::bit_ceil(slot + 1);
    auto* const entries = static_cast<Entry*>(metadata.allocate_zeroed(size * sizeof(Entry)));
    if (entries == nullptr) return false;
    if (entries_ != nullptr) {
      std::memcpy(entries, entries_, size_ * sizeof(Entry));
      metadata.free(entries_, size_ * sizeof(Entry));
    }
    entries_ = entries;
    size_ = size;
    if (!is_hidden_) shown_size_ = size;
  }
  entries_[slot] = {serial, record};
  return true;
}

}  // namespace tarn::internal
