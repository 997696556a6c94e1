#include "central/at_hand.h"

#include <cstring>

#include "page/metadata.h"

namespace tarn::internal {
namespace {

std::size_t array_bytes(std::uint32_t capacity) { return (capacity + 1) * sizeof(void*); }

}  // namespace

bool grow_at_hand_locked(AtHand& at_hand, void**& top, std::uint32_t capacity) {
  auto** const slots = static_cast<void**>(metadata.allocate(array_bytes(capacity)));
  if (slots == nullptr) return false;
  const std::uint32_t count = at_hand.count();
  slots[0] = nullptr;
  if (count != 0) std::memcpy(slots + 1, at_hand.slots + 1, count * sizeof(void*));
  end_at_hand(at_hand);
  at_hand.slots = slots;
  at_hand.capacity = capacity;
  __atomic_store_n(&top, slots + count, __ATOMIC_RELEASE);
  return true;
}

void end_at_hand(AtHand& at_hand) {
  if (at_hand.slots != nullptr) metadata.free(at_hand.slots, array_bytes(at_hand.capacity));
  at_hand.slots = nullptr;
}

}  // namespace tarn::internal
