#include "central/cached/cached_blocks.h"

#include <cstring>

#include "page/memory/metadata.h"

namespace tarn::internal {
namespace {

std::size_t array_bytes(std::uint32_t capacity) { return (capacity + 1) * sizeof(void*); }

}  // namespace

bool grow_cached_blocks_locked(CachedBlocks& cached, void**& top, std::uint32_t capacity) {
  auto** const slots = static_cast<void**>(metadata.allocate(array_bytes(capacity)));
  if (slots == nullptr) return false;
  const std::uint32_t count = cached.count();
  slots[0] = nullptr;
  if (count != 0) std::memcpy(slots + 1, cached.slots + 1, count * sizeof(void*));
  end_cached_blocks(cached);
  cached.slots = slots;
  cached.capacity = capacity;
  __atomic_store_n(&top, slots + count, __ATOMIC_RELEASE);
  return true;
}

void end_cached_blocks(CachedBlocks& cached) {
  if (cached.slots != nullptr) metadata.free(cached.slots, array_bytes(cached.capacity));
  cached.slots = nullptr;
}

}  // namespace tarn::internal
