#include "pool/magazine_list.h"

#include <bit>

#include "base/bitmap.h"

namespace tarn::internal {
namespace {

// A bit for each slot of the threads' tables; under the registry's lock.
constinit std::uint64_t used_slots[PoolTable::kMostSlots / bitmap::kWordBits] = {};

}  // namespace

std::uint32_t take_pool_slot() {
  std::uint32_t word = 0;
  while (word < std::size(used_slots) && used_slots[word] == ~std::uint64_t{0}) ++word;
  if (word == std::size(used_slots)) return PoolTable::kMostSlots;
  const BlockIndex slot = bitmap::index_of_bit(word, std::countr_one(used_slots[word]));
  bitmap::set(used_slots, number_of(slot));
  return number_of(slot);
}

void give_back_pool_slot(std::uint32_t slot) {
  const os::LockGuard registry(os::global_mutex<os::LockRank::kPoolRegistry>());
  bitmap::clear(used_slots, slot);
}

}  // namespace tarn::internal
