// Source 003, the fixed-size pool for game servers: allocate 10,000 blocks, free them, again and again; one
// thread. The source frees in the order of allocation (fifo); last in first out and random order are ours.
//
// 003_fixed          blocks of one size known to the compiler; the source's are 64 to 512 bytes
//
// 003_threaded       the same in a process that has a second thread, asleep: glibc's locks and malloc leave
//                    their atomic instructions out while a process has one thread, which a server never has
//
// 003_random_sizes   sizes drawn from 1 to a maximum; a pool of one block size hands out the maximum, but
//                    `tarn-runs` and `source-003` as many blocks of 64 bytes side by side as a size needs
//
// An operation is a block allocated and freed. What lies between the two halves (laying the pointers out in
// the order of freeing) is not timed.
#pragma once
#include "block_size.h"
#include "contestant.h"
#include "idle_thread.h"
#include "planned_batches.h"

namespace tarn::bench::source_003 {

inline constexpr std::size_t kBlocks = 10'000;
inline constexpr double kRowSeconds = 0.012;

struct Calls {
  template <class Pool, class Slot>
  static void* allocate(Pool& pool, const Slot& slot) {
    return pool.allocate(slot.bytes);
  }
  template <class Pool, class Slot>
  static void deallocate(Pool& pool, const Slot& slot) {
    pool.deallocate(slot.block, slot.bytes);
  }
};

template <class Pool, class Slot>
class Batches : public PlannedBatches<Pool, Slot, Calls> {
 public:
  Batches(FreeOrder order, std::size_t largest_bytes, PhaseTimes& times)
      : PlannedBatches<Pool, Slot, Calls>(kBlocks, order, times) {
    Random random(largest_bytes);
    if constexpr (requires(Slot slot) { slot.bytes = 1; })
      for (Slot& slot : this->slots()) slot.bytes = random.between(1, largest_bytes);
  }
};

template <class Pool, class Slot>
void run_rows(Session& session, std::size_t bytes) {
  for (const FreeOrder order : kFreeOrders) {
    const Row row = {.series = series("%s", name_of(order)), .bytes = bytes};
    if (!session.wants(row)) continue;
    PhaseTimes times;
    const Timing timing = time_rounds(1, session.budget_ns(kRowSeconds),
                                      [&](unsigned) { return Batches<Pool, Slot>(order, bytes, times); });
    report_planned(session, row, times, effort_of(timing, kBlocks));
  }
}

/// The first batch of a pool in a fresh process.
template <class Pool, class Slot>
void run_cold(Session& session, std::size_t bytes) {
  const Row row = {.bytes = bytes, .temperature = Temperature::kCold};
  if (!session.wants(row)) return;
  PhaseTimes times;
  Batches<Pool, Slot>(FreeOrder::kFifo, bytes, times).round();
  report_planned(session, row, times, {kBlocks});
}

template <class Body>
void for_each_size(const Session& session, Body body) {
  for (const std::size_t bytes : session.sizes_among({64, 128, 256, 512, 1024, 2048}))
    with_known_size<64, 128, 256, 512, 1024, 2048>(bytes, body);
}

template <template <std::size_t> class Pool>
void run_fixed(Session& session) {
  if (!session.enter("003_fixed")) return;
  for_each_size(session, [&](auto bytes) { run_rows<Pool<bytes>, FixedSlot<bytes>>(session, bytes); });
  for_each_size(session, [&](auto bytes) {
    if constexpr (bytes == 64 || bytes == 2048) run_cold<Pool<bytes>, FixedSlot<bytes>>(session, bytes);
  });
}

template <template <std::size_t> class Pool>
void run_threaded(Session& session) {
  if (!session.enter("003_threaded")) return;
  const IdleThread second;
  for_each_size(session, [&](auto bytes) { run_rows<Pool<bytes>, FixedSlot<bytes>>(session, bytes); });
}

template <template <std::size_t> class Pool>
void run_random_sizes(Session& session) {
  if (!session.enter("003_random_sizes")) return;
  for_each_size(session, [&](auto bytes) { run_rows<Pool<bytes>, SizedSlot>(session, bytes); });
}

}  // namespace tarn::bench::source_003
