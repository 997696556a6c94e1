// What the workloads on pools share: slots that remember blocks, the write into each, the orders of freeing,
// and the untimed look whether a pool's blocks are blocks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

#include "random.h"
#include "table.h"
#include "timed_row.h"
#include "use.h"
#include "verify.h"

namespace tarn::bench {

/// A block whose size the compiler knows.
template <std::size_t Bytes>
struct FixedSlot {
  void* block;
  static constexpr std::size_t bytes = Bytes;
};

/// A block of a size drawn at run time.
struct SizedSlot {
  void* block;
  std::size_t bytes;
};

/// Writes to a block and hides it: the compiler may neither drop the allocation nor see through it.
[[gnu::always_inline]] inline void* used(void* block) {
  struct [[gnu::packed]] Word {
    std::uint64_t value;
  };
  static_cast<volatile Word*>(block)->value = 1;
  return escape(block);
}

enum class FreeOrder { kLifo, kFifo, kRandom };

inline constexpr FreeOrder kFreeOrders[] = {FreeOrder::kLifo, FreeOrder::kFifo, FreeOrder::kRandom};

inline const char* name_of(FreeOrder order) {
  return order == FreeOrder::kLifo ? "lifo" : order == FreeOrder::kFifo ? "fifo" : "random";
}

/// Which allocation is freed as the i-th.
class FreePlan {
 public:
  FreePlan(FreeOrder order, std::size_t count, std::uint64_t seed) : indices_(count) {
    for (std::size_t i = 0; i < count; ++i)
      indices_[i] = static_cast<std::uint32_t>(order == FreeOrder::kLifo ? count - 1 - i : i);
    if (order == FreeOrder::kRandom) shuffle(seed);
  }
  std::size_t operator[](std::size_t turn) const { return indices_[turn]; }

  /// Lays the slots out as they are freed, so that the timed loop only walks them.
  template <class Slot>
  void arrange(const Table<Slot>& allocated, Table<Slot>& freed) const {
    for (std::size_t i = 0; i < freed.size(); ++i) freed[i] = allocated[indices_[i]];
  }

 private:
  void shuffle(std::uint64_t seed) {
    Random random(seed);
    for (std::size_t i = indices_.size() - 1; i > 0; --i)
      std::swap(indices_[i], indices_[random.between(0, i)]);
  }

  Table<std::uint32_t> indices_;
};

/// Ends the program when blocks are missing, overlap, or lose what was written to both of their ends. Every
/// thread of the row calls it with its own blocks.
template <class Slot>
void verify_slots(const Table<Slot>& slots, Worker& worker) {
  Table<LiveBlock> live(slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) live[i] = {slots[i].block, slots[i].bytes};
  verify_blocks(live, Alignment::kPool, worker);
}

}  // namespace tarn::bench
