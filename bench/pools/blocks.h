// What the workloads on blocks share: slots that remember blocks, the write into each, the orders of freeing,
// and the untimed look whether a pool's blocks are blocks.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "random.h"
#include "session.h"
#include "table.h"
#include "threads.h"
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

enum class Writing { kFirstWord, kNothing };

/// Makes a block used: the compiler may neither drop the allocation nor see through it.
template <Writing kWriting>
[[gnu::always_inline]] inline void* used(void* block) {
  struct [[gnu::packed]] Word {
    std::uint64_t value;
  };
  if constexpr (kWriting == Writing::kFirstWord) static_cast<volatile Word*>(block)->value = 1;
  asm volatile("" : "+r"(block));
  return block;
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

/// Ends the program when blocks are missing, overlap, or lose what was written to both of their ends.
/// Alignment is the pool's own affair: Boost aligns to 8 bytes, others to 16. Every thread of the row calls
/// it with its own blocks.
template <class Slot>
void verify_slots(const Table<Slot>& slots, Worker& worker) {
  Table<LiveBlock> live(slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) live[i] = {slots[i].block, slots[i].bytes};
  std::sort(live.begin(), live.end(),
            [](const LiveBlock& a, const LiveBlock& b) { return a.block < b.block; });
  for (std::size_t i = 0; i < live.size(); ++i) {
    const bool overlaps = i > 0 && static_cast<char*>(live[i - 1].block) + live[i - 1].bytes > live[i].block;
    if (live[i].block == nullptr || overlaps) {
      std::fprintf(stderr, "bench: block %p of %zu bytes is missing or overlaps\n", live[i].block,
                   live[i].bytes);
      std::_Exit(3);
    }
  }
  const std::uint64_t thread_tag = (std::uint64_t{worker.index()} + 1) << 40;
  for (std::size_t i = 0; i < live.size(); ++i) tag_block(live[i], thread_tag + i);
  worker.meet();
  for (std::size_t i = 0; i < live.size(); ++i) check_tag(live[i], thread_tag + i);
  worker.meet();
}

/// Time spent in the two halves of a workload.
struct PhaseTimes {
  double allocate_ns = 0;
  double free_ns = 0;
  std::uint64_t operations = 0;

  double ns() const { return (allocate_ns + free_ns) / static_cast<double>(operations); }
  Extra fields() const {
    const auto all = static_cast<double>(operations);
    return extra_fields(",\"allocate_ns\":%.3f,\"free_ns\":%.3f", allocate_ns / all, free_ns / all);
  }
};

}  // namespace tarn::bench
