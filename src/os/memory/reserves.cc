#include "os/memory/reserves.h"

#include "base/units.h"

namespace tarn::internal::os {

constinit Reserve reserves[kMostReserves] = {};

namespace {

constinit std::atomic<unsigned> reserve_count{0};

bool take_entry(Reserve& reserve) {
  std::uintptr_t none = 0;
  return reserve.start.load(std::memory_order_relaxed) == 0 &&
         reserve.start.compare_exchange_strong(none, kTakenReserve, std::memory_order_acq_rel);
}

// \returns kMostReserves when there is none.
unsigned take_entry() {
  const unsigned count = reserve_count.load(std::memory_order_relaxed);
  for (unsigned i = 0; i < count; ++i)
    if (take_entry(reserves[i])) return i;
  for (unsigned i = count; i < kMostReserves; ++i) {
    if (!take_entry(reserves[i])) continue;
    for (unsigned now = count; now <= i;)
      if (reserve_count.compare_exchange_weak(now, i + 1, std::memory_order_relaxed)) break;
    return i;
  }
  return kMostReserves;
}

}  // namespace

unsigned count_of_reserves() { return reserve_count.load(std::memory_order_relaxed); }

void enter_reserve(const void* start, std::size_t bytes) {
  const unsigned number = take_entry();
  if (number == kMostReserves) return;  // taking another costs as much as the entry would save
  reserves[number].end.store(address_of(start) + bytes, std::memory_order_release);
  reserves[number].start.store(address_of(start), std::memory_order_release);
}

void forget_reserve(const void* start) {
  Reserve* const reserve = reserve_of(start);
  if (reserve == nullptr) return;
  reserve->end.store(0, std::memory_order_relaxed);
  reserve->start.store(0, std::memory_order_release);
}

Reserve* reserve_of(const void* pointer) {
  const std::uintptr_t address = address_of(pointer);
  return for_each_reserve(
      [&](std::uintptr_t start, std::uintptr_t end) { return start <= address && address < end; });
}

}  // namespace tarn::internal::os
