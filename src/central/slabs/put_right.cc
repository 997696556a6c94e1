#include "central/slabs/put_right.h"

#include <initializer_list>

#include "central/classes/size_class.h"
#include "central/slabs/class_slabs.h"

namespace tarn::internal {
namespace {

void forget_parked(SlabOwner& owner, Depot& depot, SizeClass size_class) {
  const unsigned place = owner.place_of(size_class);
  Parked& parked = depot.of()[place];
  if (!parked.mutex.try_lock()) {
    parked.first = parked.spare = nullptr;
    parked.count = parked.in_first = parked.spare_count = 0;
    parked.refused = parked.peak = 0;
    depot.parked.words[place / bitmap::kWordBits].fetch_and(~bitmap::bit(place), std::memory_order_relaxed);
  }
  parked.mutex.unlock();
}

// The call may have changed a class's count and not yet the sums.
void sum_up_parked(const SlabOwner& owner, Depot& depot) {
  for (std::atomic<std::size_t>* sum : {&depot.bytes, &depot.own_slab_bytes, &depot.own_slab_pages})
    sum->store(0, std::memory_order_relaxed);
  for (const SizeClass size_class : classes_of(owner))
    depot.add(geometry_of(owner, size_class), depot.of()[owner.place_of(size_class)].count);
}

// A call that was taking or returning blocks had changed the bits and not yet the count.
void count_anew_locked(SlabOwner& owner, Span& slab) {
  std::uint32_t count = 0;
  for (std::uint32_t word = 0; word < slab.word_count; ++word) count += count_ones(slab.free_bits[word]);
  slab.free_count = count;
  slab.scan_word = 0;
  slab.longest_run = slab.block_count;
  if (slab.is_listed() && count == 0) return unlist_slab(owner, &slab);
  if (!slab.is_listed() && count != 0) place_slab(owner, &slab);
}

void count_all_anew_locked(SlabOwner& owner, const List<Span>& slabs) {
  for (Span *slab = slabs.first(), *next = nullptr; slab != nullptr; slab = next) {
    next = slab->next;
    count_anew_locked(owner, *slab);
  }
}

}  // namespace

void put_right_locked(SlabOwner& owner) {
  owner.missing_run = UINT32_MAX;
  Depot* const depot = owner.depot.load(std::memory_order_relaxed);
  for (const SizeClass size_class : classes_of(owner)) {
    if (depot != nullptr) forget_parked(owner, *depot, size_class);
    count_all_anew_locked(owner, owner.of(size_class).available);
    count_all_anew_locked(owner, owner.of(size_class).full);
  }
  if (depot != nullptr) sum_up_parked(owner, *depot);
}

}  // namespace tarn::internal
